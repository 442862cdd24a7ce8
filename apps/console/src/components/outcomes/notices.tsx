// Short words about what was just done. They go by themselves, so nothing that matters is told only here.

import { useSyncExternalStore } from 'react';

interface Notice {
  id: number;
  text: string;
  tone: 'good' | 'bad';
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
  setTimeout(() => set(notices.filter((each) => each !== notice)), SHOWN_MS);
}

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
      {shown.map(({ id, text, tone }) => (
        <p key={id} className={`notice notice-${tone}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
