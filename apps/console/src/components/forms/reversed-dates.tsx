/** Whether the first day is after the last. Dates as `2026-11-23`; what is left out reverses nothing. */
export function areReversed(from: string | undefined, to: string | undefined): boolean {
  return from !== undefined && to !== undefined && from > to;
}

/** Stands instead of what would be asked for: there is nothing to ask. */
export function ReversedDates() {
  return (
    <div className="problem" role="alert">
      <p className="problem-detail">
        The first day is after the last day. Choose an earlier first day, or a later last day.
      </p>
    </div>
  );
}
