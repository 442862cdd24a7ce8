// What is drawn on: pages of A4, in points from the upper left corner. Made twice of the same, it is the same to the byte.

import PdfDocument from 'pdfkit';
import type { FontFile } from './fonts.ts';
import type { TextLine } from './text-lines.ts';

export const PAGE = { width: 595.28, height: 841.89 } as const;

export interface SheetOptions {
  title: string;
  /** The moment that is written into the file, in place of that at which it is made. */
  at: Date;
}

export class Sheet {
  readonly #document: PDFKit.PDFDocument;
  readonly #bytes: Promise<Buffer>;
  readonly #fonts = new Set<FontFile>();

  constructor({ title, at }: SheetOptions) {
    this.#document = new PdfDocument({
      size: [PAGE.width, PAGE.height],
      margin: 0,
      autoFirstPage: false,
      pdfVersion: '1.7',
      lang: 'en',
      displayTitle: true,
      // The id of the file is made of these.
      info: { Title: title, Creator: 'Weir', Producer: 'Weir', CreationDate: at, ModDate: at },
    });
    const chunks: Buffer[] = [];
    this.#bytes = new Promise((resolve, reject) => {
      this.#document.on('data', (chunk: Buffer) => chunks.push(chunk));
      this.#document.on('end', () => resolve(Buffer.concat(chunks)));
      this.#document.on('error', reject);
    });
  }

  addPage(): void {
    this.#document.addPage();
  }

  /** Draws a line of text that stands on `y`. */
  text({ runs }: TextLine, x: number, y: number, { size, color }: { size: number; color: string }): void {
    this.#document.fillColor(color);
    let left = x;
    for (const { text, font, width, isRightToLeft } of runs) {
      if (!this.#fonts.has(font)) this.#document.registerFont(font.name, font.bytes);
      this.#fonts.add(font);
      this.#document.font(font.name).fontSize(size);
      // With features the font shapes all of it at once: word by word, what is read from the right would be in disorder.
      const features = isRightToLeft ? { features: [] } : {};
      this.#document.text(text, left, y, { lineBreak: false, baseline: 'alphabetic', ...features });
      left += width;
    }
  }

  /** A word across the page, behind what is drawn later. */
  mark(line: TextLine, { size, color }: { size: number; color: string }): void {
    const [x, y] = [PAGE.width / 2, PAGE.height / 2];
    this.#document.save().rotate(-45, { origin: [x, y] });
    this.text(line, x - line.width / 2, y + size / 3, { size, color });
    this.#document.restore();
  }

  rule(x: number, y: number, width: number, { color, weight }: { color: string; weight: number }): void {
    this.#document
      .moveTo(x, y)
      .lineTo(x + width, y)
      .lineWidth(weight)
      .strokeColor(color)
      .stroke();
  }

  async end(): Promise<Buffer> {
    for (const font of this.#fonts) if (font.family === 'ibm-plex-sans-arabic') this.#turnLigatures(font);
    this.#document.end();
    return await this.#bytes;
  }

  /**
   * Readers turn all that is read from the right, letter by letter, and so those of a ligature, too: they have to stand in the file in the
   * order in which they are drawn. pdfkit writes them as they are read, and has no other way in.
   */
  #turnLigatures({ name }: FontFile): void {
    const { _font } = this.#document.font(name) as unknown as { _font: { unicode: number[][] } };
    _font.unicode = _font.unicode.map((letters) => letters.toReversed());
  }
}
