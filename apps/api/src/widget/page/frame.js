// For the page of an app, in front of its frame: makes the frame as high as what it shows, and gets it a token from the address in its
// `data-token-url`; where that gives none, the console of the browser says so. It listens to frames of the Weir that it comes from, and
// to nobody else.

{
  const { origin: weir } = new URL(document.currentScript.src);

  const giveToken = async (frame) => {
    const { tokenUrl } = frame.dataset;
    if (tokenUrl === undefined) return;
    try {
      const answer = await fetch(tokenUrl, { method: 'POST' });
      if (!answer.ok) throw new Error(`it answered with ${answer.status}`);
      const { token } = await answer.json();
      if (typeof token !== 'string') throw new Error('its answer has no token');
      frame.contentWindow?.postMessage({ type: 'weir:token', token }, weir);
    } catch (error) {
      // The page around the frame goes on. Whoever builds it sees why the frame stays empty.
      console.warn(`Weir has no token from ${tokenUrl}:`, error);
    }
  };

  addEventListener('message', ({ source, origin, data }) => {
    if (origin !== weir) return;
    const frame = [...document.querySelectorAll('iframe')].find(({ contentWindow }) => contentWindow === source);
    if (frame === undefined) return;
    if (data?.type === 'weir:height' && Number.isFinite(data.height)) frame.style.height = `${data.height}px`;
    if (data?.type === 'weir:token-expired') void giveToken(frame);
  });
}
