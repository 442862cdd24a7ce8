// For the page of an app, in front of its frame: makes the frame as high as what it shows, and gets it a token from the address in its
// `data-token-url`. It listens to frames of the Weir that it comes from, and to nobody else.

{
  const { origin: weir } = new URL(document.currentScript.src);

  const giveToken = async (frame) => {
    const { tokenUrl } = frame.dataset;
    if (tokenUrl === undefined) return;
    const answer = await fetch(tokenUrl, { method: 'POST' });
    if (!answer.ok) return;
    const { token } = await answer.json();
    frame.contentWindow?.postMessage({ type: 'weir:token', token }, weir);
  };

  addEventListener('message', ({ source, origin, data }) => {
    if (origin !== weir) return;
    const frame = [...document.querySelectorAll('iframe')].find(({ contentWindow }) => contentWindow === source);
    if (frame === undefined) return;
    if (data?.type === 'weir:height' && Number.isFinite(data.height)) frame.style.height = `${data.height}px`;
    if (data?.type === 'weir:token-expired') void giveToken(frame);
  });
}
