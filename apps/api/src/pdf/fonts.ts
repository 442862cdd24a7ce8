// The fonts of PDFs: which file holds a character, read when it is first needed and kept from then on. They come with npm, cut into
// files by ranges of characters, as browsers load them; so a Chinese name costs some ten kilobytes and not ten megabytes.

import { create, type Font } from 'fontkit';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';

const resolve = createRequire(import.meta.url).resolve;

/**
 * In the order in which they are asked for a character. Chinese and Japanese share their characters, and so their font. That of Arabic
 * has a glyph for each form of each letter: Noto's puts letters together of parts that several share, and a reader finds other letters.
 */
const FAMILIES = ['noto-sans', 'noto-sans-hebrew', 'ibm-plex-sans-arabic', 'noto-sans-sc', 'noto-emoji'] as const;

type Family = (typeof FAMILIES)[number];

export type Weight = 400 | 600;

/** A file of a font. */
export interface FontFile {
  /** No other file has the same. */
  name: string;
  family: Family;
  /** As PDFs hold it: TrueType. */
  bytes: Buffer;
  font: Font;
}

interface Subset {
  family: Family;
  /** What files of it are named by. */
  name: string;
  /** First and last characters. */
  ranges: [number, number][];
}

let subsets: Subset[] | undefined;
const files = new Map<string, FontFile>();
const found = new Map<string, FontFile>();

/** Characters that no font holds, by their code points, of which there are a million: entries of a map would be a hundred megabytes. */
const missing: Readonly<Record<Weight, Uint8Array>> = { 400: new Uint8Array(0x110000), 600: new Uint8Array(0x110000) };

/** Returns the font that holds a character; undefined where none does. */
export function fontOf(codePoint: number, weight: Weight): FontFile | undefined {
  const key = `${codePoint} ${weight}`;
  const known = found.get(key);
  if (known !== undefined || missing[weight][codePoint] === 1) return known;
  const font = findFont(codePoint, weight);
  if (font === undefined) missing[weight][codePoint] = 1;
  else found.set(key, font);
  return font;
}

/** Whether a font holds a character. */
export function holds({ font }: FontFile, codePoint: number): boolean {
  return font.hasGlyphForCodePoint(codePoint);
}

function findFont(codePoint: number, weight: Weight): FontFile | undefined {
  subsets ??= FAMILIES.flatMap(readSubsets);
  for (const subset of subsets) {
    if (!subset.ranges.some(([first, last]) => codePoint >= first && codePoint <= last)) continue;
    const file = openFile(subset, weight);
    // A range says what a file may hold.
    if (holds(file, codePoint)) return file;
  }
  return undefined;
}

/** What the files of a family hold, as a style sheet would say it: `U+0-FF,U+131`. */
function readSubsets(family: Family): Subset[] {
  const text = readFileSync(resolve(`@fontsource/${family}/unicode.json`), 'utf8');
  return Object.entries(JSON.parse(text) as Record<string, string>).map(([name, ranges]) => ({
    family,
    name: name.replace(/[[\]]/g, ''),
    ranges: ranges.split(',').map((range) => {
      const [first = '', last = first] = range.trim().replace(/^U\+/i, '').split('-');
      return [Number.parseInt(first, 16), Number.parseInt(last, 16)];
    }),
  }));
}

function openFile({ family, name }: Subset, weight: Weight): FontFile {
  const fileName = `${family}-${name}-${weight}-normal.woff`;
  const open = files.get(fileName);
  if (open !== undefined) return open;
  const bytes = unwrapWoff(readFileSync(resolve(`@fontsource/${family}/files/${fileName}`)));
  const font = create(bytes);
  if (!('layout' in font)) throw new Error(`${fileName} is a collection of fonts`);
  const file: FontFile = { name: fileName, family, bytes, font };
  files.set(fileName, file);
  return file;
}

const WOFF_HEADER = 44;
const WOFF_ENTRY = 20;
const SFNT_HEADER = 12;
const SFNT_ENTRY = 16;

/** A WOFF file (https://www.w3.org/TR/WOFF) as the TrueType file that it was made of: fontkit would inflate it for every glyph. */
function unwrapWoff(woff: Buffer): Buffer {
  if (woff.toString('latin1', 0, 4) !== 'wOFF') throw new Error('it is no WOFF file');
  const count = woff.readUInt16BE(12);
  const head = Buffer.alloc(SFNT_HEADER + count * SFNT_ENTRY);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  const entrySelector = Math.floor(Math.log2(count));
  head.writeUInt16BE(2 ** entrySelector * SFNT_ENTRY, 6);
  head.writeUInt16BE(entrySelector, 8);
  head.writeUInt16BE((count - 2 ** entrySelector) * SFNT_ENTRY, 10);
  const parts: Buffer[] = [head];
  let at = head.length;
  for (let index = 0; index < count; index += 1) {
    const entry = WOFF_HEADER + index * WOFF_ENTRY;
    const [offset, packed, length] = [4, 8, 12].map((place) => woff.readUInt32BE(entry + place)) as [
      number,
      number,
      number,
    ];
    const stored = woff.subarray(offset, offset + packed);
    const table = packed < length ? inflateSync(stored) : stored;
    const own = SFNT_HEADER + index * SFNT_ENTRY;
    woff.copy(head, own, entry, entry + 4);
    woff.copy(head, own + 4, entry + 16, entry + 20);
    head.writeUInt32BE(at, own + 8);
    head.writeUInt32BE(length, own + 12);
    // Tables begin at multiples of four bytes.
    const padding = (4 - (length % 4)) % 4;
    parts.push(table, Buffer.alloc(padding));
    at += length + padding;
  }
  return Buffer.concat(parts);
}
