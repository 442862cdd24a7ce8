// What a reader of a PDF finds on its pages: texts, and where they stand.

import { getDocumentProxy } from 'unpdf';

export interface ReadPages {
  /** The text of each page, as it is read. */
  texts: string[];
  /** What leaves the margins of its page, and what stands over something else, in words; empty when all is in its place. */
  misplaced: string[];
}

/** What the reader says of a piece of text. Its own types are not to be found by how it exports them. */
interface Item {
  str: string;
  hasEOL: boolean;
  /** How the text is turned and enlarged, and where it begins. */
  transform: [number, number, number, number, number, number];
  width: number;
}

/** A piece of text on a page, in points from the lower left corner. */
interface Piece {
  text: string;
  left: number;
  right: number;
  bottom: number;
  top: number;
}

/** What is left free at each side of a page, and above and below. */
const MARGIN = { side: 50, end: 30 };

/** How much of a point is nothing that one sees. */
const UNSEEN = 0.5;

export async function readPages(bytes: Uint8Array): Promise<ReadPages> {
  // The reader keeps what it is given.
  const document = await getDocumentProxy(Uint8Array.from(bytes));
  const read: ReadPages = { texts: [], misplaced: [] };
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items }: { items: Item[] } = await page.getTextContent();
    read.texts.push(items.map(({ str, hasEOL }) => (hasEOL ? `${str}\n` : str)).join(''));
    const found = findMisplaced(items.flatMap(pieceOf), page.view);
    read.misplaced.push(...found.map((words) => `page ${number}: ${words}`));
  }
  return read;
}

/** The text of each page, as it is read. */
export async function textOfPages(bytes: Uint8Array): Promise<string[]> {
  return (await readPages(bytes)).texts;
}

/** Spaces are nothing that is seen, and what runs across the page lies behind the rest. */
function pieceOf({ str, transform: [, turned, , size, left, y], width }: Item): Piece[] {
  if (str.trim() === '' || turned !== 0) return [];
  return [{ text: str.slice(0, 60), left, right: left + width, bottom: y - 0.2 * size, top: y + 0.7 * size }];
}

function findMisplaced(pieces: Piece[], [left, bottom, right, top]: [number, number, number, number]): string[] {
  const room = {
    left: left + MARGIN.side - UNSEEN,
    right: right - MARGIN.side + UNSEEN,
    bottom: bottom + MARGIN.end,
    top: top - MARGIN.end,
  };
  const isWithin = (piece: Piece) =>
    piece.left >= room.left && piece.right <= room.right && piece.bottom >= room.bottom && piece.top <= room.top;
  const outside = pieces.filter((piece) => !isWithin(piece));
  const over = pieces.flatMap((piece, index) =>
    pieces.slice(index + 1).flatMap((other) => (areOverlaid(piece, other) ? [[piece, other] as const] : [])),
  );
  return [
    ...outside.map(({ text, left: from, right: to }) => `“${text}” goes from ${from} to ${to}`),
    ...over.map(([piece, other]) => `“${piece.text}” and “${other.text}” stand over each other`),
  ];
}

function areOverlaid(one: Piece, other: Piece): boolean {
  return (
    one.left + UNSEEN < other.right &&
    other.left + UNSEEN < one.right &&
    one.bottom + UNSEEN < other.top &&
    other.bottom + UNSEEN < one.top
  );
}
