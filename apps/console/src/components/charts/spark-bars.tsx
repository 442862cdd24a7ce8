interface SparkBarsProps {
  /** Says what they show: the numbers themselves stand elsewhere. */
  label: string;
  values: readonly (number | null)[];
}

/** Of the width that a bar has. */
const GAP = 0.14;

/** Small bars in a row, to see a course at a glance. Drawn by themselves: the library of the charts is more than a page of them. */
export function SparkBars({ label, values }: SparkBarsProps) {
  const max = Math.max(0, ...values.map((value) => value ?? 0));
  const min = Math.min(0, ...values.map((value) => value ?? 0));
  const span = max - min || 1;
  return (
    <svg
      className="day-bars spark-bars"
      viewBox={`0 0 ${values.length || 1} 1`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map((value, index) => (
        <rect
          // They are where they stand.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          className="day-bars-bar"
          x={index + GAP}
          y={(max - Math.max(value ?? 0, 0)) / span}
          width={1 - 2 * GAP}
          height={Math.abs(value ?? 0) / span}
        />
      ))}
    </svg>
  );
}
