// Finds what a document deprecates and does not say as docs/releases.md promises: by three headers, a year ahead, and in the changelog.

const YEAR_MS = 365 * 86_400_000;

/** Each is a line for a person: which operation, and what is missing. */
export function findUntoldDeprecations(document, changelog) {
  const told = changelog
    .split(/^#{2,3} /m)
    .filter((section) => section.startsWith('Deprecated\n'))
    .join();
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      if (operation.deprecated !== true) return [];
      const name = `${method.toUpperCase()} ${path.replace('/api/v1', '')}`;
      const found = faultsOf(operation);
      if (!told.includes(`\`${name}\``)) found.push(`is not named under Deprecated in CHANGELOG.md, as \`${name}\``);
      return found.map((fault) => `${name} ${fault}`);
    }),
  );
}

function faultsOf({ responses }) {
  const answered = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  for (const [status, { headers = {} }] of answered) {
    const missing = ['Deprecation', 'Sunset', 'Link'].filter((name) => headers[name] === undefined);
    if (missing.length > 0)
      return [`is deprecated, and its ${status} has no ${missing.join(', ')}: give its route config.deprecated`];
    const [since, sunset] = [Number(headers.Deprecation.example.slice(1)) * 1000, Date.parse(headers.Sunset.example)];
    if (!(sunset - since >= YEAR_MS)) return ['may be gone less than a year after it is deprecated'];
  }
  return [];
}
