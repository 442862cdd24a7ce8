import { Snippet } from './snippet.tsx';

interface SecretOnceProps {
  /** Null where the first answer, which held it, did not come: it is in no other. */
  text: string | null;
  label: string;
}

/** A secret that is shown once. */
export function SecretOnce({ text, label }: SecretOnceProps) {
  if (text !== null) return <Snippet text={text} label={label} />;
  return <p role="alert">It was made, but got lost on its way here, and nobody can show it again: make another one.</p>;
}
