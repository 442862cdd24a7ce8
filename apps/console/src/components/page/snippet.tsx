import { CopyButton } from './copy-button.tsx';

/** A text that one copies as a whole: a key, a command. */
export function Snippet({ text, label }: { text: string; label: string }) {
  return (
    <div className="snippet">
      <pre>{text}</pre>
      <CopyButton value={text} label={label} />
    </div>
  );
}
