/** The query of an address, for what changes a part of it: `search: (all: SearchTexts) => ({ ...all, page: '2' })`. */
export type SearchTexts = Record<string, string | undefined>;
