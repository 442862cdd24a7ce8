// Text as it is drawn: cut into lines of a width, and each line into runs of one font and one direction, in the order in which they
// stand from left to right. Names of customers are in any script, and in several at once.

import createBidi from 'bidi-js';
import { fontOf, holds, type FontFile, type Weight } from './fonts.ts';

// Its types are those of its ES module. Node takes the other one, which is the function itself.
const bidi = (createBidi as unknown as typeof createBidi.default)();

export interface TextStyle {
  size: number;
  weight: Weight;
}

/** Characters that are drawn one after the other with one font. */
export interface Run {
  text: string;
  font: FontFile;
  width: number;
  /** The text stands as it is read: the font draws it from right to left. */
  isRightToLeft: boolean;
}

export interface TextLine {
  /** From left to right. */
  runs: Run[];
  width: number;
  /** As it is read. */
  text: string;
}

/** A character, with the font that draws it. */
interface Character {
  text: string;
  font: FontFile;
  /** Where it begins in its paragraph, in units of UTF-16. */
  at: number;
}

/** Chinese and Japanese have no spaces: a line ends between any two of their characters, but not before a comma or a bracket. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}][\u3001\u3002\u300D\u300F\u3011\uFF01\uFF09\uFF0C\uFF1A\uFF1B\uFF1F\u30FC]*\s*|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\S)+\s*|\s+/gu;

/** What only says how its neighbours are drawn. Where their font does not know it, it is left out. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u;

/** Goes with the font of what stands before it, so that a word and the marks around it are drawn by one. */
const FOLLOWS = /[\p{Z}\p{P}\p{M}\p{Sk}]/u;

const MARK = /\p{M}/u;

/** As in the Stream-Safe Text Format of https://www.unicode.org/reports/tr15: no language needs more, and a font looks back over all. */
const MARKS_MAX = 30;

/** An ellipsis takes the place of fewer characters, unless these have no width. */
const CUT_ONE_BY_ONE = 16;

/** Some hundred pages of words that all differ. What a thousand rows of long texts are cut to would else fill the memory. */
const WIDTHS_MAX = 20_000;

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;

/** Lays out texts, and remembers how wide words are: the words of an invoice come again and again. */
export class TextLayout {
  readonly #widths = new Map<string, number>();

  /** The lines of a text that are at most so wide; at most `linesMax`, of which the last one then ends in an ellipsis. */
  lines(
    text: string,
    style: TextStyle,
    { width, linesMax = Infinity }: { width: number; linesMax?: number },
  ): TextLine[] {
    const lines: TextLine[] = [];
    for (const paragraph of plainText(text).split('\n')) {
      const characters = this.#characters(paragraph, style.weight);
      // Levels are those of the whole paragraph, in whose direction each of its lines is.
      const { levels } = bidi.getEmbeddingLevels(paragraph);
      for (const [from, to] of this.#breaks(paragraph, characters, style, width)) {
        if (lines.length === linesMax) return [...lines.slice(0, -1), this.#cut(lines.at(-1), style, width)];
        lines.push(this.#line(characters.slice(from, to), levels, style));
      }
    }
    return lines;
  }

  /** A text that fits into a line. */
  line(text: string, style: TextStyle): TextLine {
    return this.lines(text.replaceAll('\n', ' '), style, { width: Infinity })[0] ?? { runs: [], width: 0, text: '' };
  }

  #characters(paragraph: string, weight: Weight): Character[] {
    const characters: Character[] = [];
    let at = 0;
    let marks = 0;
    for (const text of paragraph) {
      if (MARK.test(text)) marks += 1;
      else if (!UNSEEN.test(text)) marks = 0;
      if (marks > MARKS_MAX) {
        at += text.length;
        continue;
      }
      const codePoint = text.codePointAt(0) ?? 0;
      const before = characters.at(-1)?.font;
      const follows =
        before !== undefined && (UNSEEN.test(text) || (FOLLOWS.test(text) && before.family !== 'noto-emoji'));
      if (follows && holds(before, codePoint)) characters.push({ text, font: before, at });
      else if (!UNSEEN.test(text)) {
        const font = fontOf(codePoint, weight) ?? fontOf(MISSING, weight);
        // Without a font it is drawn as a box.
        if (font !== undefined) characters.push({ text, font, at });
      }
      at += text.length;
    }
    return characters;
  }

  /** From which character to before which one each line goes, without the spaces at its end. */
  #breaks(paragraph: string, characters: Character[], style: TextStyle, widthMax: number): [number, number][] {
    const breaks: [number, number][] = [];
    const indexAt = new Map(characters.map(({ at }, index) => [at, index]));
    let from = 0;
    let to = 0;
    let width = 0;
    const end = () => {
      if (to > from) breaks.push([from, trimmedEnd(characters, from, to)]);
      from = to;
      width = 0;
    };
    for (const { index: at, 0: word } of paragraph.matchAll(WORD)) {
      const first = indexAt.get(at) ?? to;
      const last = indexAt.get(at + word.length) ?? characters.findIndex((each) => each.at >= at + word.length);
      const wordEnd = last === -1 ? characters.length : last;
      if (wordEnd <= first) continue;
      const visibleEnd = trimmedEnd(characters, first, wordEnd);
      const visible = this.#width(characters.slice(first, visibleEnd), style);
      // No letter is as narrow as a point: more characters than that are such as have no width, and a line is bounded in both.
      if (width + visible > widthMax || visibleEnd - from > widthMax) end();
      if (visible > widthMax || visibleEnd - first > widthMax) {
        // Longer than a line: it is cut where the line ends.
        for (let index = first; index < wordEnd; index += 1) {
          const one = this.#width(characters.slice(index, index + 1), style);
          if (width + one > widthMax || index - from >= widthMax) end();
          to = index + 1;
          width += one;
        }
        continue;
      }
      to = wordEnd;
      width += this.#width(characters.slice(first, wordEnd), style);
    }
    end();
    return breaks.length === 0 ? [[0, 0]] : breaks;
  }

  #line(characters: Character[], levels: Uint8Array, style: TextStyle): TextLine {
    const runs = inVisualOrder(
      groupsOf(characters, ({ font, at }) => `${font.name} ${levels[at] ?? 0}`).map((group) => ({
        characters: group,
        level: levels[group[0]?.at ?? 0] ?? 0,
      })),
    ).map(({ characters: group, level }) => this.#run(group, level, style));
    const width = runs.reduce((sum, run) => sum + run.width, 0);
    return { runs, width, text: characters.map((each) => each.text).join('') };
  }

  #run(characters: Character[], level: number, style: TextStyle): Run {
    const isOdd = level % 2 === 1;
    const texts = characters.map(({ text }) => (isOdd ? (bidi.getMirroredCharacter(text) ?? text) : text));
    // A font turns what is Arabic or Hebrew, and nothing else: a bracket that stands there alone is turned here.
    const isRightToLeft = RIGHT_TO_LEFT.test(texts.join(''));
    const text = (isOdd === isRightToLeft ? texts : texts.reverse()).join('');
    return { text, font: characters[0]?.font as FontFile, width: this.#width(characters, style), isRightToLeft };
  }

  /** The last line that there is room for, with an ellipsis. */
  #cut(line: TextLine | undefined, style: TextStyle, width: number): TextLine {
    const characters = Array.from(line?.text ?? '');
    const cutTo = (kept: number) => this.line(`${characters.slice(0, kept).join('').trimEnd()}…`, style);
    let over = characters.length + 1;
    for (const last = Math.max(1, over - CUT_ONE_BY_ONE); over > last; over -= 1) {
      const cut = cutTo(over - 1);
      if (cut.width <= width) return cut;
    }
    // By halves: each time the line is laid out anew, and what stands at its end may be hundreds of characters without a width.
    let fits = 0;
    while (over - fits > 1) {
      const middle = Math.floor((fits + over) / 2);
      if (cutTo(middle).width <= width) fits = middle;
      else over = middle;
    }
    return cutTo(fits);
  }

  #width(characters: Character[], { size, weight }: TextStyle): number {
    let width = 0;
    for (const group of groupsOf(characters, ({ font }) => font.name)) {
      const text = group.map((each) => each.text).join('');
      const font = group[0]?.font as FontFile;
      const key = `${weight} ${font.name} ${text}`;
      let known = this.#widths.get(key);
      if (known === undefined) {
        known = font.font.layout(text).advanceWidth / font.font.unitsPerEm;
        if (this.#widths.size === WIDTHS_MAX) this.#widths.clear();
        this.#widths.set(key, known);
      }
      width += known * size;
    }
    return width;
  }
}

/** The box in place of what no font holds is that of the font of this one. */
const MISSING = 0xfffd;

/** Without what is no text: lines end in a line feed, and what controls a terminal is a space. */
function plainText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/(?!\n)\p{Cc}/gu, ' ');
}

function trimmedEnd(characters: Character[], from: number, to: number): number {
  let end = to;
  while (end > from && characters[end - 1]?.text.trim() === '') end -= 1;
  return end;
}

function groupsOf<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups: Item[][] = [];
  let key: string | undefined;
  for (const item of items) {
    const own = keyOf(item);
    if (own === key) groups.at(-1)?.push(item);
    else groups.push([item]);
    key = own;
  }
  return groups;
}

/** By rule L2 of https://www.unicode.org/reports/tr9: from the highest level on, what is of a level or above is turned. */
function inVisualOrder<Leveled extends { level: number }>(runs: Leveled[]): Leveled[] {
  const ordered = [...runs];
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1) {
    for (let from = 0; from < ordered.length; from += 1) {
      let to = from;
      while ((ordered[to]?.level ?? -1) >= level) to += 1;
      if (to > from) {
        ordered.splice(from, to - from, ...ordered.slice(from, to).reverse());
        from = to;
      }
    }
  }
  return ordered;
}
