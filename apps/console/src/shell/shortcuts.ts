import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';
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
  const go = useEffectEvent((to: string) => void navigate({ to }));
  const search = useEffectEvent(onSearch);
  const help = useEffectEvent(onHelp);
  useEffect(() => {
    let goneAt = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isSecond = event.timeStamp - goneAt < SEQUENCE_MS;
      goneAt = -Infinity;
      const page = DESTINATIONS.flatMap(({ pages }) => pages).find(({ key }) => key === event.key);
      if (isSecond && page !== undefined) {
        event.preventDefault();
        go(page.to);
      } else if (event.key === 'g') goneAt = event.timeStamp;
      else if (event.key === '/') {
        event.preventDefault();
        search();
      } else if (event.key === '?') help();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') !== null;
}
