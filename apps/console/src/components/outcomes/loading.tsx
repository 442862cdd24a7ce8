/** Grey lines where something will stand. They show after 100 ms (components.css), so that what is fast does not flicker. */
export function Loading({ rows = 4, label = 'Loading' }: { rows?: number; label?: string }) {
  return (
    <div className="loading" role="status" aria-label={label}>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} className="loading-line" />
      ))}
    </div>
  );
}
