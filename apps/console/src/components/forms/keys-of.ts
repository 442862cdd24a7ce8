/** The keys of a table that has entries for some names only, in their order. */
export function keysOf<Name extends string>(table: Readonly<Partial<Record<Name, unknown>>>): Name[] {
  return Object.keys(table) as Name[];
}
