/** Returns what is said where nothing of a list was found: that there is none is said only where it is known. */
export function nothingFound({ isPending, error }: { isPending: boolean; error: unknown }, none: string): string {
  if (isPending) return 'Loading …';
  return error === null ? none : 'This cannot be read now';
}
