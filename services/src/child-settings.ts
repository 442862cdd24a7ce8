/** The environment of a child in which these settings are made: what a file says of one of them counts no more. */
export function withSettings(env: NodeJS.ProcessEnv, settings: Record<string, string>): NodeJS.ProcessEnv {
  const files = new Set(Object.keys(settings).map((name) => `${name}_FILE`));
  const others = Object.entries(env).filter(([name]) => !files.has(name));
  return { ...Object.fromEntries(others), ...settings };
}
