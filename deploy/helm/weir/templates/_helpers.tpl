{{- define "weir.name" -}}
{{- if contains "weir" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-weir{{ end }}
{{- end }}

{{/* What a selector names: it never changes. */}}
{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end }}

{{/* Helm reads every number as a float, and would write 10485760 as 1.048576e+07. */}}
{{- define "weir.text" -}}
{{- if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/* A number among settings; one that is not set, or empty, has its default of docs/configuration.md. */}}
{{- define "weir.number" -}}
{{- $value := include "weir.text" (dig .name "" .settings) }}
{{- if eq $value "" }}{{ .byDefault }}{{ else }}{{ $value }}{{ end }}
{{- end }}

{{- define "weir.drainTimeout" -}}
{{- include "weir.number" (dict "settings" .Values.settings "name" "DRAIN_TIMEOUT_MS" "byDefault" 10000) }}
{{- end }}

{{- define "weir.drainDelay" -}}
{{- include "weir.number" (dict "settings" .Values.api.settings "name" "DRAIN_DELAY_MS" "byDefault" 5000) }}
{{- end }}

{{/* The seconds after which a process that is told to stop is killed: what it takes at most, and five more. */}}
{{- define "weir.grace" -}}
{{- $milliseconds := 999 }}
{{- range . }}{{ $milliseconds = add $milliseconds (int64 .) }}{{ end }}
{{- add (div $milliseconds 1000) 5 }}
{{- end }}

{{/* The list of a container's env: settings, and which of the secrets. */}}
{{- define "weir.env" -}}
{{- range $name, $value := .settings }}
- name: {{ $name }}
  value: {{ include "weir.text" $value | quote }}
{{- end }}
{{- range $name := .secrets }}
{{- with index $.root.Values.secrets $name }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ .name }}
      key: {{ .key }}
{{- end }}
{{- end }}
{{- if .root.Values.ca.name }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/weir/ca.pem
{{- end }}
{{- end }}

{{/* What all pods share. It needs nothing of the cluster's API, no user but its own, and no file that it could write. */}}
{{- define "weir.pod" -}}
automountServiceAccountToken: false
# A Service called worker would else set WORKER_PORT.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.ca }}
{{- if .name }}
volumes:
  - name: ca
    secret:
      secretName: {{ .name }}
      items:
        - key: {{ .key }}
          path: ca.pem
{{- end }}
{{- end }}
{{- end }}

{{- define "weir.container" -}}
image: {{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
resources:
  {{- toYaml .resources | nindent 2 }}
{{- if .root.Values.ca.name }}
volumeMounts:
  - name: ca
    mountPath: /etc/weir
    readOnly: true
{{- end }}
{{- end }}

{{- define "weir.spread" -}}
topologySpreadConstraints:
  {{- range .root.Values.spread.over }}
  - topologyKey: {{ . }}
    maxSkew: 1
    whenUnsatisfiable: {{ $.root.Values.spread.whenUnsatisfiable }}
    # Among the pods of one version, or the old ones would decide where the new ones go.
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels:
        {{- include "weir.selector" $ | nindent 8 }}
  {{- end }}
{{- end }}

{{/* Three probes of one port: how long a start may take, alive, ready. Every answer comes within some 1.5 s, whatever is away. */}}
{{- define "weir.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 2
{{- end }}
