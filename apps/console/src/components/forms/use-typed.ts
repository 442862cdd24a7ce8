import { useState } from 'react';

/** Text while it is typed, on the way to a value. A link, or the way back, is another value, and stands there then. */
export function useTyped(value: string): [typed: string, setTyped: (text: string) => void] {
  const [typed, setTyped] = useState(value);
  const [given, setGiven] = useState(value);
  if (given !== value) {
    setGiven(value);
    setTyped(value);
  }
  return [typed, setTyped];
}
