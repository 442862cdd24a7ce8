import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A log above this size is set aside at the next start, so that the log folder stays below twice this for each
 * program.
 */
const logBytesMax = 20 * 1024 * 1024;

/** A file that a program's output is appended to. */
export interface LogFile {
  path: string;
  /** For the `stdio` of a child. */
  fd: number;
  /** The last lines written since this file was opened. */
  tail(): Promise<string[]>;
  /** The child keeps its own handle: closing this one takes nothing from it. */
  close(): Promise<void>;
}

/**
 * Opens a log to append to, and makes its folder. A large one is first renamed to end in `.1`, in place of the one
 * before.
 */
export async function openLogFile(path: string): Promise<LogFile> {
  await mkdir(dirname(path), { recursive: true });
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > logBytesMax) await rename(path, `${path}.1`);
  const file = await open(path, 'a+', 0o600);
  const start = (await file.stat()).size;
  return { path, fd: file.fd, tail: () => readTail(path, start), close: () => closeOnce(file) };
}

async function closeOnce(file: FileHandle): Promise<void> {
  if (file.fd >= 0) await file.close();
}

async function readTail(path: string, start: number): Promise<string[]> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(start, size - 8192);
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.max(0, size - from)),
      0,
      Math.max(0, size - from),
      from,
    );
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    return lines.filter((line) => line.trim() !== '').slice(-20);
  } finally {
    await file.close();
  }
}
