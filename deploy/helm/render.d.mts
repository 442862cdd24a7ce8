/** An object of Kubernetes, as it is written in YAML. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> };
  spec: never;
}

/** The objects of the chart with these values. Throws what Helm says of values that the chart does not take. */
export function renderChart(values: object, chart?: string): KubernetesObject[];
