/**
 * Has something done before the process ends by itself, and at SIGTERM if asked. Returns what takes it back. Nothing can be done at
 * `process.exit()`, at an uncaught exception, or at SIGKILL.
 */
export function callAtExit(finish: () => Promise<void>, alsoOnSigterm: boolean): () => void {
  const onExit = () => void finish();
  const endBySigterm = async () => {
    await finish();
    takeBack();
    // The listener kept Node from ending the process, as it does where there is none.
    if (process.listenerCount('SIGTERM') === 0) process.kill(process.pid, 'SIGTERM');
  };
  const onSigterm = () => void endBySigterm();
  const takeBack = () => {
    process.off('beforeExit', onExit);
    process.off('SIGTERM', onSigterm);
  };
  process.on('beforeExit', onExit);
  if (alsoOnSigterm) process.on('SIGTERM', onSigterm);
  return takeBack;
}
