// Where the focus goes when what had it is gone: without this a keyboard begins at the top of the page again.

const FOCUSABLE = 'a[href], button:not([disabled]), input:not([disabled]), textarea:not([disabled]), [tabindex]';

/** Returns what is focused now, and what could be instead of it, the nearest first. */
export function placesOf(): HTMLElement[] {
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement) || focused === document.body) return [];
  // An entry of a menu goes with its menu, in a moment; the button that opened the menu stays.
  const menu = focused.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  const opener = typeof menu === 'string' ? document.getElementById(menu) : null;
  const places: HTMLElement[] = [];
  for (let each: HTMLElement | null = opener ?? focused; each !== null; each = each.parentElement) {
    if (each.matches(FOCUSABLE)) places.push(each);
  }
  return places;
}

/**
 * Focuses the first of these that is still there; else the title of the page. And again where that is lost before somebody does something,
 * as with the row of a list that was read anew.
 */
export function focusFirstOf(places: readonly HTMLElement[]): void {
  focusNow(places);
  const removals = new MutationObserver(() => {
    if (document.activeElement === document.body) focusNow(places);
  });
  const stop = () => {
    removals.disconnect();
    for (const type of ACTIONS) document.removeEventListener(type, stop, true);
  };
  removals.observe(document.body, { childList: true, subtree: true });
  for (const type of ACTIONS) document.addEventListener(type, stop, true);
}

const ACTIONS = ['pointerdown', 'keydown', 'wheel'] as const;

function focusNow(places: readonly HTMLElement[]): void {
  const place = places.find((each) => each.isConnected && each.matches(FOCUSABLE));
  // The page itself is no better than its title, which says where one is.
  if (place !== undefined && place.id !== 'main') return place.focus();
  // What was opened over a dialog leaves the dialog.
  const dialog = [...document.querySelectorAll<HTMLElement>('[role="dialog"]')].at(-1);
  const target =
    dialog?.querySelector<HTMLElement>('[data-autofocus]') ?? document.querySelector<HTMLElement>('#main h1');
  target?.focus();
}
