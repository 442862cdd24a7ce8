/** Hands a text, the parts of a long one, or what was read as a file, to the browser as a file to keep. */
export function download(name: string, content: string | Blob | Blob[], type = 'text/csv;charset=utf-8'): void {
  const file =
    content instanceof Blob ? content : new Blob(typeof content === 'string' ? [content] : content, { type });
  const address = URL.createObjectURL(file);
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
}
