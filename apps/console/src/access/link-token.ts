/** The token of a link such as `/invitation#…`: it is in the fragment, which no browser sends to a server or writes to a log. */
export function linkToken(): string {
  return decodeURIComponent(window.location.hash.slice(1));
}
