import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { DESTINATIONS } from './navigation.ts';

/** How long after `g` the letter may come. */
const SEQUENCE_MS = 1_500;

interface Shortcuts {
  onSearch: () => void;
  onHelp: () => void;
}

/** `g` and a letter goes to a page, `/` searches, `?` shows the keys. Never while one types or a dialog is open. */
export function useShortcuts({ onSearch, onHelp }: Shortcuts): void {
  const navigate = useNavigate();
  const latest = useRef({ onSearch, onHelp, navigate });
  latest.current = { onSearch, onHelp, navigate };
  useEffect(() => {
    let goneAt = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isSecond = event.timeStamp - goneAt < SEQUENCE_MS;
      goneAt = -Infinity;
      const page = DESTINATIONS.flatMap(({ pages }) => pages).find(({ key }) => key === event.key);
      if (isSecond && page !== undefined) {
        event.preventDefault();
        void latest.current.navigate({ to: page.to });
      } else if (event.key === 'g') goneAt = event.timeStamp;
      else if (event.key === '/') {
        event.preventDefault();
        latest.current.onSearch();
      } else if (event.key === '?') latest.current.onHelp();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null;
}
