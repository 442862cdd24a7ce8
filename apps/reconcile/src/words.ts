// How the report writes counts.

export function plural(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function number(value: number): string {
  return value.toLocaleString('en-US');
}
