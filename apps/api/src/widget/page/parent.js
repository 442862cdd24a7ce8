// What this page and the page around it tell each other. Nothing that is told from here is a secret, so any parent may hear it; and
// a token is taken from the parent only.

const isFramed = window.parent !== window;

function tell(message) {
  // Who may frame this page is for its policy to say; which of those it is makes no difference.
  if (isFramed) window.parent.postMessage(message, '*');
}

/** Tells the parent how high the page is, now and whenever that changes. */
export function tellHeight() {
  let told = 0;
  new ResizeObserver(() => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === told) return;
    told = height;
    tell({ type: 'weir:height', height });
  }).observe(document.body);
}

/** Asks the parent for a new token; false: there is nobody to ask. */
export function askForToken() {
  tell({ type: 'weir:token-expired' });
  return isFramed;
}

/** Hears every token that the parent sends. */
export function hearTokens(onToken) {
  addEventListener('message', ({ source, data }) => {
    if (source === window.parent && isFramed && data?.type === 'weir:token' && typeof data.token === 'string')
      onToken(data.token);
  });
}
