// Short words about what was just done, which go by themselves. What was not done stays until it was read.

import { useSyncExternalStore } from 'react';

interface Notice {
  id: number;
  text: string;
  /** Of a success, of something that was not needed any more, or of a refusal. */
  tone: 'good' | 'noted' | 'bad';
}

const SHOWN_MS = 4_000;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

export function notify(text: string, tone: Notice['tone'] = 'good'): void {
  const notice = { id: ++lastId, text, tone };
  set([...notices, notice]);
  if (tone === 'good') setTimeout(() => putAway(notice), SHOWN_MS);
}

const putAway = (notice: Notice): void => set(notices.filter((each) => each !== notice));

export function Notices() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => notices,
  );
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map((notice) => (
        <p key={notice.id} className={`notice notice-${notice.tone}`}>
          {notice.text}
          {notice.tone !== 'good' && (
            <button type="button" className="notice-close" onClick={() => putAway(notice)}>
              Close
            </button>
          )}
        </p>
      ))}
    </div>
  );
}
