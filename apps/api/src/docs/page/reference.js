// Shows /openapi.json with Scalar. Whoever is signed in on this address can send requests as they stand: the browser adds the cookie.

window.Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  theme: 'none',
  // Nothing of what follows may speak to anybody but this Weir.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  showToolbar: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'direct',
  operationTitleSource: 'summary',
  orderSchemaPropertiesBy: 'preserve',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: { preferredSecurityScheme: 'session' },
  favicon: '/docs/assets/weir.svg',
});
