// The files of an outbox, and which of them are worth to be written anew: those of whose events most are settled.

import { open, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder, removeFile, syncFolder } from './outbox-folder.ts';

export interface Segment {
  path: string;
  /** Bytes that are on disk for certain. */
  size: number;
  /** Events in it that are still to be read; Infinity in one of another process, whose events nobody has counted. */
  unread: number;
  /** Bytes of the events that were read and are not settled. */
  unsettled: number;
  /** How far it is read, and what was read of a line that had not come to its end. */
  position: number;
  carry: Buffer;
  /** Nothing is appended to it any more. */
  isFull: boolean;
  isRead: boolean;
  /** It could not be read just now. Others are read meanwhile, and it is tried again with the next look. */
  isUnreadable: boolean;
}

/** The one that is written to. */
export interface ActiveSegment {
  segment: Segment;
  handle: FileHandle;
  inode: bigint;
}

/** Some thousand events: what may be sent again after a crash, and how soon room comes back. */
const SEGMENT_BYTES = 512 * 1024;

/** More than what is under way leaves beside it, so that usually nothing is moved; and soon sent again after a crash. */
const SETTLED_BYTES_MAX = 8 * 1024 * 1024;

/** From how many bytes on nothing more is appended, in an outbox of so many. */
export function segmentBytes(outboxBytesMax: number): number {
  return Math.min(SEGMENT_BYTES, outboxBytesMax / 4);
}

/**
 * Of files that are read to their end those whose events that are not settled should be moved to one new file, in an outbox of so many bytes.
 * None while little would come of it.
 */
export function worthMoving(segments: Iterable<Segment>, outboxBytesMax: number): Set<Segment> {
  const worthy = new Set<Segment>();
  const sparse = [...segments].filter(({ size, unsettled }) => unsettled <= size / 2);
  const settled = sparse.reduce((bytes, { size, unsettled }) => bytes + size - unsettled, 0);
  if (settled <= Math.min(SETTLED_BYTES_MAX, outboxBytesMax / 4)) return worthy;
  let bytes = 0;
  for (const segment of sparse.sort((a, b) => a.unsettled - b.unsettled)) {
    bytes += segment.unsettled;
    if (worthy.size > 0 && bytes > segmentBytes(outboxBytesMax)) break;
    worthy.add(segment);
  }
  return worthy;
}

export function isReadToEnd({ size, position }: Segment): boolean {
  return size === position;
}

export function newSegment(path: string, size: number, unread: number): Segment {
  const states = { isFull: false, isRead: false, isUnreadable: false };
  return { path, size, unread, unsettled: 0, position: 0, carry: Buffer.alloc(0), ...states };
}

/** Makes an empty file whose name is on disk, and opens it. */
export async function createFile(path: string): Promise<{ handle: FileHandle; inode: bigint }> {
  const handle = await open(path, 'wx', 0o600).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    // Someone who took this process for gone has removed the empty folder.
    await makeFolder(dirname(path));
    return await open(path, 'wx', 0o600);
  });
  try {
    await syncFolder(dirname(path));
    return { handle, inode: (await handle.stat({ bigint: true })).ino };
  } catch (error) {
    // The process may have too many files open: with each call it would have one more.
    await handle.close();
    await removeFile(path);
    throw error;
  }
}

/**
 * Writes a new file; on disk, with its name, when it resolves. To false when it is not there any more: another process has taken it over,
 * with or without all of this text. A file that cannot be written is removed.
 */
export async function writeFile(path: string, text: Buffer): Promise<boolean> {
  const { handle, inode } = await createFile(path);
  try {
    await handle.writeFile(text);
    await handle.datasync();
    return (await inodeOf(path)) === inode;
  } catch (error) {
    await removeFile(path);
    throw error;
  } finally {
    await handle.close();
  }
}

/** Reads on from where it is read to. */
export async function readChunk({ path, position }: Segment, length: number): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Undefined where there is no file. */
export async function inodeOf(path: string): Promise<bigint | undefined> {
  try {
    return (await stat(path, { bigint: true })).ino;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
