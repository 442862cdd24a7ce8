import { describe, expect, test, vi } from 'vitest';
import { fontOf } from './fonts.ts';
import { TextLayout, type TextStyle } from './text-lines.ts';

const STYLE: TextStyle = { size: 12, weight: 600 };
const ROOM = { width: 250, linesMax: 2 };

/** The lines of a text, and how often the font was asked for them. */
function laidOut(text: string) {
  const { font } = fontOf(0x57, STYLE.weight) ?? {};
  if (font === undefined) throw new Error('no font holds a W');
  const layout = vi.spyOn(font, 'layout');
  try {
    return { lines: new TextLayout().lines(text, STYLE, ROOM), asked: layout.mock.calls.length };
  } finally {
    layout.mockRestore();
  }
}

describe('a line that is cut', () => {
  test.each(['W', 'i', "'", 'Wide words, ', 'ffi ', 'لا', 'س', 'شكرا ', 'ח', '測', '測。', '🎉', 'W測بع🎉 '])(
    'keeps as much of %s as there is room for',
    (text) => {
      const layout = new TextLayout();
      const all = Array.from(text.repeat(200)).slice(0, 200);
      const lines = layout.lines(all.join(''), STYLE, ROOM);
      const whole = layout.lines(all.join(''), STYLE, { width: ROOM.width })[1]?.text ?? '';
      const kept = Array.from(whole);
      const cut = () => layout.line(`${kept.join('').trimEnd()}…`, STYLE);
      while (cut().width > ROOM.width) kept.pop();
      expect(lines).toHaveLength(2);
      expect(lines[1]).toEqual(cut());
    },
  );

  test.each([
    ['marks', '\u0301'],
    ['spaces without a width', '\u200b'],
    ['marks between joiners', '\u0301\u2060'],
  ])('is laid out a few times, also where it ends in a thousand %s', (_, text) => {
    const { lines, asked } = laidOut(`A\u2028${'W'.repeat(21)}l${text.repeat(975)}\u2028x`);
    expect(lines.map((line) => line.text)).toEqual(['A', expect.stringMatching(/^W{21}.*…$/)]);
    expect(lines[1]?.width).toBeLessThanOrEqual(ROOM.width);
    expect(asked).toBeLessThan(50);
  });
});

test('a letter has no more marks than any language gives it', () => {
  const marks = (count: number) => `W${'\u0301'.repeat(count)}W`;
  const [line] = new TextLayout().lines(marks(1_000), STYLE, ROOM);
  expect(line?.text).toBe(marks(30));
  const [joined] = new TextLayout().lines(`W${'\u0301\u2060'.repeat(500)}`, STYLE, ROOM);
  expect(joined?.text.replaceAll('\u2060', '')).toBe(`W${'\u0301'.repeat(30)}`);
});
