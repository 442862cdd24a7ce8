// A plot of latency (logarithmic) against the rate that was offered, as text: nothing is needed to draw it.

export interface PlotPoint {
  sharePercent: number;
  /** Requests that were due in each second. */
  perSecond: number;
  latencyMs: Record<Line, number>;
}

const LINES = ['p50', 'p99', 'p99.9'] as const;
type Line = (typeof LINES)[number];

/** Told apart by eyes that do not see all colours, and by their dashes in print. */
const STROKES: Record<Line, { colour: string; dash: string }> = {
  p50: { colour: '#0072b2', dash: '' },
  p99: { colour: '#d55e00', dash: '' },
  'p99.9': { colour: '#6b4c9a', dash: '6 4' },
};

const WIDTH = 880;
const HEIGHT = 530;
const PLOT = { left: 84, right: 800, top: 78, bottom: 424 };

/** About how many steps the lower axis has. */
const STEPS = 8;

/** Between two lines of the note. */
const NOTE_LINE = 16;

/**
 * Draws the points, which are in the order of their rate. `note` stands under the plot, each part up to a semicolon on a line of
 * its own, and says where it was measured. Throws for points that cannot be drawn: none, or a figure that is not above zero.
 */
export function latencyPlot(points: readonly PlotPoint[], note: string): string {
  const latencies = points.flatMap(({ latencyMs }) => Object.values(latencyMs));
  if (latencies.length === 0 || ![...latencies, ...points.map((point) => point.perSecond)].every((value) => value > 0))
    throw new Error('a plot needs points, and figures above zero');
  const step = roundStep(Math.max(...points.map(({ perSecond }) => perSecond)) / STEPS);
  const rateMax = step * Math.ceil(Math.max(...points.map(({ perSecond }) => perSecond)) / step);
  const powerMin = Math.floor(Math.log10(Math.min(...latencies)));
  const powerMax = Math.max(powerMin + 1, Math.ceil(Math.log10(Math.max(...latencies))));
  const x = (perSecond: number) => PLOT.left + (perSecond / rateMax) * (PLOT.right - PLOT.left);
  const y = (ms: number) =>
    PLOT.bottom - ((Math.log10(ms) - powerMin) / (powerMax - powerMin)) * (PLOT.bottom - PLOT.top);

  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" ` +
      `font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif" font-size="14" fill="#1f2328" role="img" ` +
      `aria-label="Latency of POST /sdk/track against offered load">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(PLOT.left, 32, 'Latency of one tracked event against offered load', 'font-size="18" font-weight="600"'),
    text(PLOT.left, 54, 'from the time a request is due to its whole answer; logarithmic', 'fill="#59636e"'),
  ];

  for (let power = powerMin; power <= powerMax; power += 1) {
    for (const digit of power === powerMax ? [1] : [1, 2, 5]) {
      const ms = digit * 10 ** power;
      parts.push(
        line(PLOT.left, y(ms), PLOT.right, y(ms), digit === 1 ? '#c8ced4' : '#e8ebee'),
        text(
          PLOT.left - 10,
          y(ms) + 5,
          numberText(ms),
          `text-anchor="end"${digit === 1 ? '' : ' fill="#7a838c" font-size="12"'}`,
        ),
      );
    }
  }
  for (let rate = 0; rate <= rateMax; rate += step) {
    parts.push(
      line(x(rate), PLOT.bottom, x(rate), PLOT.bottom + 6, '#59636e'),
      text(x(rate), PLOT.bottom + 24, rate.toLocaleString('en-US'), 'text-anchor="middle"'),
    );
  }
  const top = points.find(({ sharePercent }) => sharePercent === 100);
  if (top !== undefined) {
    parts.push(
      line(x(top.perSecond), PLOT.top, x(top.perSecond), PLOT.bottom, '#8c959f', '3 4'),
      text(x(top.perSecond) - 6, PLOT.top - 8, 'top rate', 'text-anchor="end" fill="#59636e" font-size="12"'),
    );
  }
  parts.push(
    line(PLOT.left, PLOT.top, PLOT.left, PLOT.bottom, '#59636e'),
    line(PLOT.left, PLOT.bottom, PLOT.right, PLOT.bottom, '#59636e'),
    text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 50, 'offered load, requests a second', 'text-anchor="middle"'),
    `<text transform="translate(26 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">latency, ms</text>`,
    ...note
      .split('; ')
      .toReversed()
      .map((each, index) => text(PLOT.left, HEIGHT - 16 - index * NOTE_LINE, each, 'fill="#59636e" font-size="12"')),
  );
  for (const name of LINES) {
    const { colour, dash } = STROKES[name];
    const places = points.map(({ perSecond, latencyMs }) => `${digits(x(perSecond))},${digits(y(latencyMs[name]))}`);
    parts.push(
      `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2.5" stroke-linejoin="round"${dashed(dash)}/>`,
    );
    for (const { perSecond, latencyMs, sharePercent } of points) {
      const title = `${name} at ${sharePercent} % of the top rate, ${Math.round(perSecond)} requests/s: ${latencyMs[name].toFixed(1)} ms`;
      parts.push(
        `<circle cx="${digits(x(perSecond))}" cy="${digits(y(latencyMs[name]))}" r="4" fill="${colour}"><title>${escape(title)}</title></circle>`,
      );
    }
  }
  const last = points.at(-1);
  if (last !== undefined) {
    const labels = spreadApart(LINES.map((name) => y(last.latencyMs[name]) + 5));
    LINES.forEach((name, index) =>
      parts.push(
        text(x(last.perSecond) + 10, labels[index] ?? 0, name, `fill="${STROKES[name].colour}" font-weight="600"`),
      ),
    );
  }
  return `${[...parts, '</svg>'].join('\n')}\n`;
}

/** The smallest of 1, 2 and 5 times a power of ten that is not below a size. */
export function roundStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size));
  return ([1, 2, 5, 10].find((factor) => factor * power >= size * (1 - 1e-9)) ?? 10) * power;
}

/** Heights of labels from the lowest line up, moved so that none covers another. */
function spreadApart(heights: number[]): number[] {
  const LABEL_HEIGHT = 17;
  let above = Number.POSITIVE_INFINITY;
  return heights.map((height) => (above = Math.min(height, above - LABEL_HEIGHT)));
}

function line(x1: number, y1: number, x2: number, y2: number, colour: string, dash = ''): string {
  const places = `x1="${digits(x1)}" y1="${digits(y1)}" x2="${digits(x2)}" y2="${digits(y2)}"`;
  return `<line ${places} stroke="${colour}"${dashed(dash)}/>`;
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${digits(x)}" y="${digits(y)}" ${attributes}>${escape(content)}</text>`;
}

const dashed = (dash: string) => (dash === '' ? '' : ` stroke-dasharray="${dash}"`);
const digits = (value: number) => String(Math.round(value * 10) / 10);
const numberText = (value: number) => String(Number(value.toPrecision(1)));
const escape = (content: string) => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
