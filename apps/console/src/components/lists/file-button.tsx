import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { download } from '../../text/download.ts';
import { ProblemBox } from '../outcomes/problem-box.tsx';
import { Icon } from '../page/icons.tsx';

export interface MadeFile {
  name: string;
  parts: Parameters<typeof download>[1];
  /** What is to be known of it. */
  said?: string | undefined;
}

interface FileButtonProps {
  label: string;
  /** Reads what is in the file; what it says meanwhile stands beside the button. It asks for nothing more once it is told to stop. */
  make: (say: (words: string) => void, signal: AbortSignal) => Promise<MadeFile>;
}

/** A file that takes many requests: it says how far it is, and is stopped by a button, and by leaving the page. */
export function FileButton({ label, make }: FileButtonProps) {
  const [said, setSaid] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const reading = useRef(new AbortController());
  const opener = useRef<HTMLButtonElement>(null);
  // Nobody could stop it who has left the page.
  useEffect(() => () => reading.current.abort(), []);
  const run = async () => {
    setError(undefined);
    setBusy(true);
    setSaid(undefined);
    reading.current = new AbortController();
    const { signal } = reading.current;
    try {
      const file = await Promise.race([make(setSaid, signal), stopped(signal)]);
      download(file.name, file.parts);
      setSaid(file.said);
    } catch (problem) {
      setSaid(signal.aborted ? 'Stopped: there is no file.' : undefined);
      if (!signal.aborted) setError(problem);
    } finally {
      // What had the focus is gone, or was turned off meanwhile.
      flushSync(() => setBusy(false));
      if (document.activeElement === document.body) opener.current?.focus();
    }
  };
  return (
    <>
      <span className="muted" role="status">
        {said}
      </span>
      <Button
        ref={opener}
        variant="default"
        leftSection={<Icon name="download" />}
        loading={isBusy}
        onClick={() => void run()}
      >
        {label}
      </Button>
      {isBusy && (
        <Button variant="default" onClick={() => reading.current.abort()}>
          Stop
        </Button>
      )}
      <ProblemBox error={error} />
    </>
  );
}

/** Throws once it is told to stop, also where a request goes on that nobody can give up. */
function stopped(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
