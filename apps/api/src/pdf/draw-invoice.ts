// An invoice as PDF: first everything is laid out, so that the number of pages is known, then it is drawn, both in steps between which
// others have a turn.

import type { InvoicePaper, PaperRow } from './invoice-paper.ts';
import { buyerOf, letterheadOf, sellerOf } from './parties.ts';
import { PAGE, Sheet } from './sheet.ts';
import { TextLayout, type TextLine, type TextStyle } from './text-lines.ts';
import { isZero, sayAmount, sayDay, sayDecimal, sayInstant, sayPeriod } from './words.ts';

const LEFT = 50;
const RIGHT = PAGE.width - LEFT;
const WIDTH = RIGHT - LEFT;
const TOP = 52;
const BOTTOM = PAGE.height - 64;
const FOOTER = PAGE.height - 36;

const INK = '#14181c';
const SOFT = '#5b6570';
const RULE = '#e1e5e9';
const MARK = '#eef0f2';

const TITLE: TextStyle = { size: 22, weight: 600 };
const HEADLINE: TextStyle = { size: 15, weight: 600 };
const STRONG: TextStyle = { size: 9, weight: 600 };
const PLAIN: TextStyle = { size: 9, weight: 400 };
const SMALL: TextStyle = { size: 8, weight: 400 };
const WATERMARK: TextStyle = { size: 120, weight: 600 };

/** From one line of text to the next, as a multiple of its size. */
const LEADING = 1.45;

/** Where a column ends, and how wide it is. */
const DESCRIPTION = { left: LEFT, width: 300 };
const QUANTITY = { right: RIGHT - 110, width: 80 };
const AMOUNT = { right: RIGHT, width: 100 };

/** Between the label of a sum and its amount, at least. */
const TOTALS_GAP = 12;

/** Lines of a party, of a description and of its notes: more than a plain name or price takes, and less than a page. */
const PARTY_LINES_MAX = 14;
const DESCRIPTION_LINES_MAX = 8;
const NOTE_LINES_MAX = 4;

/** A part of the invoice that is not cut by the end of a page. */
interface Block {
  height: number;
  /** A row of the table: on a new page it comes below the table's head. */
  isRow?: true;
  draw: (top: number) => void;
}

/** Returns an invoice, drawn. The same one is drawn the same, to the byte. */
export function* drawingInvoice(paper: InvoicePaper): Generator<undefined, Sheet, undefined> {
  const { invoice } = paper;
  const at = new Date(invoice.finalized_at ?? invoice.computed_at ?? invoice.created_at);
  const name = invoice.invoice_number === null ? 'Draft invoice' : `Invoice ${invoice.invoice_number}`;
  const sheet = new Sheet({ title: name, at });
  const drawn = new Drawing(sheet, new TextLayout());
  const blocks = [yield* drawn.head(paper), drawn.tableHead()];
  for (const row of paper.rows) {
    blocks.push(drawn.row(row));
    yield;
  }
  if (paper.further !== undefined) blocks.push(drawn.furtherRow(paper.further));
  blocks.push(drawn.totals(paper), ...drawn.payments(paper), ...drawn.closing(paper));
  const pages = pagesOf(blocks, drawn.tableHead());
  const mark = { DRAFT: 'DRAFT', VOID: 'VOID', OPEN: '', PAID: '', UNCOLLECTIBLE: '' }[invoice.status];
  for (const [index, page] of pages.entries()) {
    sheet.addPage();
    if (mark !== '') drawn.watermark(mark);
    for (const { draw, top } of page) {
      draw(top);
      yield;
    }
    drawn.footer([name, headlineOf(paper)].join(' · '), `Page ${index + 1} of ${pages.length}`);
  }
  return sheet;
}

interface Placed extends Block {
  top: number;
}

function pagesOf(blocks: readonly Block[], tableHead: Block): Placed[][] {
  const pages: Placed[][] = [[]];
  let top = TOP;
  const place = (block: Block) => {
    pages.at(-1)?.push({ ...block, top });
    top += block.height;
  };
  for (const block of blocks) {
    if (top + block.height > BOTTOM && top > TOP) {
      pages.push([]);
      top = TOP;
      if (block.isRow === true) place(tableHead);
    }
    place(block);
  }
  return pages;
}

/** When somebody paid it. One of nothing, or below zero, has the status PAID, and there was nothing to pay. */
function paidAt({ status, total, paid_at }: InvoicePaper['invoice']): string | undefined {
  if (status !== 'PAID' || isZero(total) || total.startsWith('-')) return undefined;
  return paid_at ?? undefined;
}

/** What is to be done about it, in a few words. */
function headlineOf({ invoice, zone }: InvoicePaper): string {
  const { status, total, amount_due, currency, due_date } = invoice;
  const paid = paidAt(invoice);
  switch (status) {
    case 'DRAFT':
      return `${sayAmount(total, currency)} so far`;
    case 'VOID':
      return `${sayAmount(total, currency)}, void: nothing is due`;
    case 'PAID':
      return paid === undefined
        ? `${sayAmount(total, currency)}, nothing is due`
        : `${sayAmount(total, currency)} paid on ${sayInstant(paid, zone)}`;
    case 'UNCOLLECTIBLE':
      return `${sayAmount(amount_due, currency)} unpaid, closed: nothing is due`;
    case 'OPEN':
      return `${sayAmount(amount_due, currency)} due${due_date === null ? '' : ` ${sayDay(due_date)}`}`;
  }
}

class Drawing {
  readonly #sheet: Sheet;
  readonly #layout: TextLayout;

  constructor(sheet: Sheet, layout: TextLayout) {
    this.#sheet = sheet;
    this.#layout = layout;
  }

  /** In steps: what an organization may say of itself and of a customer is a thousand characters, in any script. */
  *head(paper: InvoicePaper): Generator<undefined, Block, undefined> {
    const { invoice, zone, organization } = paper;
    const title = this.#layout.line(invoice.status === 'DRAFT' ? 'Draft invoice' : 'Invoice', TITLE);
    const [issuer = organization] = sellerOf(invoice, organization).split('\n');
    const maker = this.#layout.lines(issuer, { size: 12, weight: 600 }, { width: 250, linesMax: 2 });
    yield;
    const facts: [string, string][] = [
      ['Invoice number', invoice.invoice_number ?? ''],
      ['Date of issue', invoice.issue_date === null ? '' : sayDay(invoice.issue_date)],
      ['Date due', invoice.due_date === null ? '' : sayDay(invoice.due_date)],
      ['Period', sayPeriod(invoice.period_start, invoice.period_end, zone)],
    ];
    const told = facts
      .filter(([, value]) => value !== '')
      .map(([label, value]) => [this.#layout.line(label, STRONG), this.#layout.line(value, PLAIN)] as const);
    const seller = this.#party(sellerOf(invoice, organization));
    yield;
    const buyer = [this.#layout.line('Bill to', STRONG), ...this.#party(buyerOf(invoice), PLAIN)];
    yield;
    const headline = this.#layout.lines(headlineOf(paper), HEADLINE, { width: WIDTH, linesMax: 2 });
    const leading = PLAIN.size * LEADING;
    const factsTop = 44;
    const partiesTop = factsTop + told.length * leading + 22;
    const headlineTop = partiesTop + Math.max(seller.length, buyer.length) * leading + 26;
    return {
      height: headlineTop + headline.length * HEADLINE.size * LEADING + 18,
      draw: (top) => {
        this.#sheet.text(title, LEFT, top + TITLE.size, { size: TITLE.size, color: INK });
        for (const [index, line] of maker.entries()) {
          this.#sheet.text(line, RIGHT - line.width, top + TITLE.size + index * 16, { size: 12, color: INK });
        }
        for (const [index, [label, value]] of told.entries()) {
          const y = top + factsTop + index * leading + PLAIN.size;
          this.#sheet.text(label, LEFT, y, { size: STRONG.size, color: INK });
          this.#sheet.text(value, LEFT + 96, y, { size: PLAIN.size, color: INK });
        }
        this.#lines(seller, LEFT, top + partiesTop, PLAIN, INK);
        this.#lines(buyer, LEFT + WIDTH / 2, top + partiesTop, PLAIN, INK);
        this.#lines(headline, LEFT, top + headlineTop, HEADLINE, INK);
      },
    };
  }

  tableHead(): Block {
    const [description, quantity, amount] = ['Description', 'Quantity', 'Amount'].map((word) =>
      this.#layout.line(word, SMALL),
    ) as [TextLine, TextLine, TextLine];
    return {
      height: 22,
      draw: (top) => {
        const look = { size: SMALL.size, color: SOFT };
        this.#sheet.text(description, LEFT, top + 10, look);
        this.#sheet.text(quantity, QUANTITY.right - quantity.width, top + 10, look);
        this.#sheet.text(amount, AMOUNT.right - amount.width, top + 10, look);
        this.#sheet.rule(LEFT, top + 17, WIDTH, { color: INK, weight: 0.75 });
      },
    };
  }

  row({ description, notes, quantity, amount }: PaperRow): Block {
    const { width } = DESCRIPTION;
    const title = this.#layout.lines(description, PLAIN, { width, linesMax: DESCRIPTION_LINES_MAX });
    const below = notes.flatMap((note) => this.#layout.lines(note, SMALL, { width, linesMax: NOTE_LINES_MAX }));
    const used = this.#layout.lines(quantity, PLAIN, { width: QUANTITY.width });
    const money = this.#layout.lines(amount, PLAIN, { width: AMOUNT.width });
    const titleHeight = title.length * PLAIN.size * LEADING;
    const height = Math.max(
      titleHeight + below.length * SMALL.size * LEADING,
      Math.max(used.length, money.length) * PLAIN.size * LEADING,
    );
    return {
      height: height + 12,
      isRow: true,
      draw: (top) => {
        this.#lines(title, LEFT, top + 5, PLAIN, INK);
        this.#lines(below, LEFT, top + 5 + titleHeight, SMALL, SOFT);
        this.#linesEndingAt(used, QUANTITY.right, top + 5, PLAIN);
        this.#linesEndingAt(money, AMOUNT.right, top + 5, PLAIN);
        this.#sheet.rule(LEFT, top + height + 11, WIDTH, { color: RULE, weight: 0.5 });
      },
    };
  }

  furtherRow({ lines, amount }: { lines: number; amount: string }): Block {
    const description = `${sayDecimal(String(lines))} more ${lines === 1 ? 'line' : 'lines'}`;
    return this.row({ description, notes: ['Not listed here.'], quantity: '', amount });
  }

  /** The sum, and what is still to be paid. */
  totals({ invoice }: InvoicePaper): Block {
    const { status, currency, subtotal, tax, total, credits_applied: credits, amount_paid: paid, amount_due } = invoice;
    const rows: [string, string][] = [
      ...(isZero(tax)
        ? []
        : ([
            ['Subtotal', subtotal],
            ['Tax', tax],
          ] satisfies [string, string][])),
      ['Total', total],
      ...(isZero(credits) ? [] : [['Credits applied', `-${credits}`] satisfies [string, string]]),
      ...(isZero(paid) ? [] : [['Paid', `-${paid}`] satisfies [string, string]]),
      [status === 'UNCOLLECTIBLE' ? 'Unpaid' : 'Amount due', amount_due],
    ];
    const step = 19;
    const told = rows.map(([label, amount], index) => {
      const style = index === rows.length - 1 ? STRONG : PLAIN;
      return [this.#layout.line(label, style), this.#layout.line(sayAmount(amount, currency), style)] as const;
    });
    // They stand in half of the page. Of amounts for which that is too narrow the labels begin further left.
    const widest = Math.max(...told.map(([label, amount]) => label.width + TOTALS_GAP + amount.width));
    const left = RIGHT - Math.max(WIDTH / 2, widest);
    return {
      height: rows.length * step + 20,
      draw: (top) => {
        for (const [index, [label, amount]] of told.entries()) {
          const y = top + 8 + index * step + PLAIN.size;
          this.#sheet.text(label, left, y, { size: PLAIN.size, color: INK });
          this.#sheet.text(amount, RIGHT - amount.width, y, { size: PLAIN.size, color: INK });
          if (index < rows.length - 1)
            this.#sheet.rule(left, y + 6, RIGHT - left, { color: index === rows.length - 2 ? INK : RULE, weight: 0.5 });
        }
      },
    };
  }

  /** Those that stand. Their references are the organization's. */
  payments({ invoice, zone }: InvoicePaper): Block[] {
    const { currency, payments } = invoice;
    const standing = payments.filter((each) => each.taken_back_at === null);
    if (standing.length === 0) return [];
    const rows = standing.map(({ amount, paid_at }) => {
      const day = this.#layout.line(sayInstant(paid_at, zone), PLAIN);
      const money = this.#layout.line(sayAmount(amount, currency), PLAIN);
      return {
        height: 16,
        draw: (top: number) => {
          this.#sheet.text(day, LEFT, top + 11, { size: PLAIN.size, color: INK });
          this.#sheet.text(money, RIGHT - money.width, top + 11, { size: PLAIN.size, color: INK });
        },
      };
    });
    return [this.#heading('Payments'), ...rows];
  }

  /** What is left to say. */
  closing({ invoice }: InvoicePaper): Block[] {
    const letterhead = letterheadOf(invoice);
    const said = {
      DRAFT: 'This is a draft: amounts may still change.',
      VOID: 'This invoice is void.',
      PAID: paidAt(invoice) === undefined ? '' : 'Paid. Thank you.',
      OPEN: '',
      UNCOLLECTIBLE: 'This invoice is closed.',
    }[invoice.status];
    const lines = [said, letterhead ?? ''].filter((text) => text !== '').join('\n\n');
    if (lines === '') return [];
    const leading = PLAIN.size * LEADING;
    const blocks = this.#layout.lines(lines, PLAIN, { width: WIDTH }).map((line) => ({
      height: leading,
      draw: (top: number) => this.#lines([line], LEFT, top, PLAIN, SOFT),
    }));
    return [{ height: 16, draw: () => {} }, ...blocks];
  }

  watermark(word: string): void {
    this.#sheet.mark(this.#layout.line(word, WATERMARK), { size: WATERMARK.size, color: MARK });
  }

  footer(text: string, page: string): void {
    const number = this.#layout.line(page, SMALL);
    const look = { size: SMALL.size, color: SOFT };
    this.#sheet.rule(LEFT, FOOTER - 14, WIDTH, { color: RULE, weight: 0.5 });
    for (const line of this.#layout.lines(text, SMALL, { width: WIDTH - 80, linesMax: 1 }))
      this.#sheet.text(line, LEFT, FOOTER, look);
    this.#sheet.text(number, RIGHT - number.width, FOOTER, look);
  }

  #heading(text: string): Block {
    const line = this.#layout.line(text, STRONG);
    return { height: 20, draw: (top) => this.#lines([line], LEFT, top + 2, STRONG, INK) };
  }

  /** A party in half of the page, of which the first line is its name. */
  #party(text: string, first: TextStyle = STRONG): TextLine[] {
    const [name = '', ...others] = text.split('\n');
    const width = WIDTH / 2 - 20;
    const lines = this.#layout.lines(name, first, { width, linesMax: PARTY_LINES_MAX });
    const room = PARTY_LINES_MAX - lines.length;
    if (others.length === 0 || room === 0) return lines;
    return [...lines, ...this.#layout.lines(others.join('\n'), PLAIN, { width, linesMax: room })];
  }

  /** Lines one below the other, of which the first one begins at `top`. */
  #lines(lines: readonly TextLine[], x: number, top: number, { size }: TextStyle, color: string): void {
    for (const [index, line] of lines.entries())
      this.#sheet.text(line, x, top + size + index * size * LEADING, { size, color });
  }

  #linesEndingAt(lines: readonly TextLine[], right: number, top: number, { size }: TextStyle): void {
    for (const [index, line] of lines.entries())
      this.#sheet.text(line, right - line.width, top + size + index * size * LEADING, { size, color: INK });
  }
}
