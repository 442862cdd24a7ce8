// What a reader of a PDF finds on its pages.

import { extractText, getDocumentProxy } from 'unpdf';

/** The text of each page, as it is read. */
export async function textOfPages(bytes: Uint8Array): Promise<string[]> {
  // The reader keeps what it is given.
  const { text } = await extractText(await getDocumentProxy(Uint8Array.from(bytes)), { mergePages: false });
  return text;
}
