// Queued events on disk. An event is in a file, and the file on disk, before its `queue` resolves. Files are only appended to, and
// deleted when each of their events is settled, or is on disk in another one. So a process that dies loses nothing, and the next one
// may send some again, which are counted once by their keys. Which folder, and what of earlier processes: outbox-folder.ts.

import { stat, truncate } from 'node:fs/promises';
import { resolve, join } from 'node:path';
import { WeirError } from './error.ts';
import { decodeEvent } from './event.ts';
import type { EventStore, HeldEvent } from './held-event.ts';
import { takeFirst } from './memory-store.ts';
import { leaveFolder, makeFolder, makeOwnFolder, removeFile, takeOver } from './outbox-folder.ts';
import { LOOK_MS, touch } from './outbox-owner.ts';
import {
  createFile,
  inodeOf,
  isReadToEnd,
  newSegment,
  readChunk,
  segmentBytes,
  worthMoving,
  writeFile,
  type ActiveSegment,
  type Segment,
} from './outbox-segment.ts';
import type { WarningKind } from './warnings.ts';

export interface OutboxOptions {
  /** On a local disk. Made when it is missing. Processes of one machine may share it. */
  folder: string;
  /** Bytes on disk from which on it is full; default 256 MiB. */
  bytesMax?: number;
}

export interface OutboxEvent extends HeldEvent {
  segment: Segment;
  /** In the order in which this process wrote them; 0 of another's. */
  number: number;
}

export interface OutboxListeners {
  /** Told what cannot be read or removed; problems of one kind are alike. */
  onProblem: (kind: WarningKind, message: string) => void;
  /** Called when there is something to take that another process has left. */
  onFound: () => void;
}

interface Pending {
  event: HeldEvent;
  resolve: () => void;
  reject: (error: WeirError) => void;
}

const READ_BYTES = 256 * 1024;
/** Events that share one write. */
const GROUP_MAX = 1_000;
const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

export class Outbox implements EventStore<OutboxEvent> {
  readonly isDurable = true;
  readonly #base: string;
  readonly #bytesMax: number;
  /** Events that may wait for their write, in memory. */
  readonly #pendingMax: number;
  readonly #listeners: OutboxListeners;
  readonly #lookMs: number;
  readonly #opened: Promise<void>;
  #isOpen = false;
  #isClosed = false;
  #folder: Promise<string> | undefined;
  #number = 0;

  #pending: Pending[] = [];
  #pendingBytes = 0;
  #writing: Promise<void> | undefined;
  #active: ActiveSegment | undefined;

  /** Segments that are not read to their end, in the order in which they are read. */
  #unread: Segment[] = [];
  /** Events in those that this process wrote, and the number of segments of others. */
  #unreadOwn = 0;
  #unreadOthers = 0;
  /** Segments that are read to their end, and of which something is not settled. */
  readonly #kept = new Set<Segment>();
  #reading: Promise<unknown> = Promise.resolve();
  /** Events of this process that are on disk, and those of them that were read. */
  #written = 0;
  #read = 0;
  #ready: OutboxEvent[] = [];
  readonly #taken = new Set<OutboxEvent>();
  #bytes = 0;
  readonly #removals = new Set<Promise<void>>();
  #compacting: Promise<void> | undefined;
  #nextLook: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  /** Begins to look for what processes that are gone have left, and goes on with that. */
  constructor(options: OutboxOptions, pendingMax: number, listeners: OutboxListeners, lookMs = LOOK_MS) {
    this.#base = resolve(options.folder);
    this.#bytesMax = options.bytesMax ?? 256 * 1024 * 1024;
    this.#pendingMax = pendingMax;
    this.#listeners = listeners;
    this.#lookMs = lookMs;
    this.#opened = this.#look().finally(() => (this.#isOpen = true));
  }

  get waiting(): number {
    if (!this.#isOpen || this.#next?.unread === Infinity) return Infinity;
    return this.#ready.length + this.#unreadOwn;
  }

  get bytes(): number {
    return this.#bytes + this.#pendingBytes;
  }

  get isEmpty(): boolean {
    return (
      this.#isOpen &&
      this.#unread.every(isReadToEnd) &&
      this.#ready.length + this.#taken.size + this.#pending.length === 0
    );
  }

  get last(): number {
    return this.#written + this.#pending.length;
  }

  isSettledTo(last: number): boolean {
    const isLater = ({ number }: OutboxEvent) => number > last;
    return (
      this.#isOpen &&
      this.#unreadOthers === 0 &&
      this.#read >= last &&
      this.#ready.every(isLater) &&
      [...this.#taken].every(isLater)
    );
  }

  hasRoom(bytes: number): boolean {
    // Also one that is larger than all of it, or what is settled of the file that is written to would keep it out for ever.
    if (this.isEmpty) return true;
    return this.#pending.length < this.#pendingMax && this.bytes + bytes <= this.#bytesMax;
  }

  add(event: HeldEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ event, resolve, reject });
      this.#pendingBytes += event.bytes + 1;
      this.#writing ??= this.#writeAll();
    });
  }

  take(eventsMax: number, bytesMax: number): Promise<OutboxEvent[]> {
    const taking = this.#reading.then(async () => {
      await this.#opened;
      while (this.#ready.length < eventsMax && (await this.#readOn()));
      const events = takeFirst(this.#ready, eventsMax, bytesMax);
      for (const event of events) this.#taken.add(event);
      return events;
    });
    this.#reading = taking;
    return taking;
  }

  giveBack(events: readonly OutboxEvent[], place: 'before' | 'behind' = 'before'): void {
    this.#ready = place === 'before' ? [...events, ...this.#ready] : [...this.#ready, ...events];
    for (const event of events) this.#taken.delete(event);
  }

  settle(events: readonly OutboxEvent[]): void {
    for (const event of events) {
      const { segment } = event;
      this.#taken.delete(event);
      segment.unsettled -= event.bytes + 1;
      this.#removeIfDone(segment);
    }
  }

  async compact(): Promise<void> {
    this.#compacting ??= this.#compactAll().finally(() => (this.#compacting = undefined));
    await this.#compacting;
  }

  /** What is not settled stays on disk, for the next process. */
  async close(): Promise<HeldEvent[]> {
    await this.#opened;
    this.#isClosed = true;
    clearTimeout(this.#nextLook);
    await this.#looking;
    await this.#writing;
    await this.#reading;
    if (this.#active !== undefined) await this.#retire(this.#active);
    // Finds the ends of segments that were read already.
    for (let next = this.#next; this.#ready.length === 0 && next !== undefined && isReadToEnd(next); next = this.#next)
      await this.#readOn();
    await Promise.all(this.#removals);
    if (this.#folder !== undefined) await leaveFolder(await this.#folder);
    return [];
  }

  /** Never rejects. */
  async #compactAll(): Promise<void> {
    try {
      for (;;) {
        const segments = worthMoving(this.#kept, this.#bytesMax);
        if (segments.size === 0 || !(await this.#moveFrom(segments))) return;
      }
    } catch (error) {
      const told = `What is settled keeps its room in the outbox ${this.#base} for now: ${String(error)}`;
      this.#listeners.onProblem('file', told);
    }
  }

  /**
   * Moves what is not settled to a new file. The old ones go once that is on disk, with its name: whoever dies before leaves some events
   * twice. Resolves to false, and leaves all as it is, when another process has taken the new one over.
   */
  async #moveFrom(segments: Set<Segment>): Promise<boolean> {
    const held = () => [...this.#taken, ...this.#ready].filter(({ segment }) => segments.has(segment));
    const text = Buffer.from(
      held()
        .map(({ json }) => `${json}\n`)
        .join(''),
    );
    const path = await this.#nextPath();
    if (!(await writeFile(path, text))) return false;
    const moved = newSegment(path, text.length, 0);
    this.#bytes += moved.size;
    // Some were settled meanwhile, in their old files.
    for (const event of held()) {
      event.segment.unsettled -= event.bytes + 1;
      moved.unsettled += event.bytes + 1;
      event.segment = moved;
    }
    for (const segment of segments) this.#removeIfDone(segment);
    this.#keep(moved);
    return true;
  }

  /** Takes over what is left, now and then again. Never rejects. */
  async #look(): Promise<void> {
    try {
      const folder = await this.#folder;
      // Someone who took this process for gone has removed it: nothing could be taken over into it.
      if (folder !== undefined && !(await touch(folder))) await makeFolder(folder);
      await takeOver(
        this.#base,
        (left) => this.#nextPath(left),
        (path) => this.#addTaken(path),
      );
    } catch (error) {
      this.#listeners.onProblem('folder', `The outbox ${this.#base} cannot be read: ${String(error)}`);
    }
    if (this.#isClosed) return;
    this.#nextLook = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        const hasUnreadable = this.#unread.some(({ isUnreadable }) => isUnreadable);
        for (const segment of this.#unread) segment.isUnreadable = false;
        if (hasUnreadable || this.#unreadOthers > 0) this.#listeners.onFound();
      });
    }, this.#lookMs).unref();
  }

  /** The one to read from. */
  get #next(): Segment | undefined {
    return this.#unread.find(({ isUnreadable }) => !isUnreadable);
  }

  async #addTaken(path: string): Promise<void> {
    const { size } = await stat(path);
    const segment = newSegment(path, size, Infinity);
    segment.isFull = true;
    // What is written to is the last that is read: what it may still get must not hold up what others have left.
    const at = this.#active === undefined ? -1 : this.#unread.indexOf(this.#active.segment);
    this.#unread.splice(at === -1 ? this.#unread.length : at, 0, segment);
    this.#unreadOthers += 1;
    this.#bytes += size;
  }

  async #nextPath(left?: string): Promise<string> {
    this.#folder ??= this.#makeFolder(left).catch((error: unknown) => {
      // What cannot be made now may be another time.
      this.#folder = undefined;
      throw error;
    });
    const folder = await this.#folder;
    this.#number += 1;
    return join(folder, `${String(this.#number).padStart(8, '0')}.ndjson`);
  }

  async #makeFolder(left?: string): Promise<string> {
    const { folder, files } = await makeOwnFolder(this.#base, left);
    for (const file of files) {
      this.#number = Number.parseInt(file, 10);
      await this.#addTaken(join(folder, file));
    }
    return folder;
  }

  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const group = this.#pending.slice(0, GROUP_MAX);
      const text = Buffer.from(group.map(({ event }) => `${event.json}\n`).join(''));
      let settle = ({ resolve }: Pending): void => resolve();
      try {
        await this.#write(text, group.length);
        // In the same turn as they are no longer pending: `last` counts each once.
        this.#written += group.length;
      } catch (error) {
        settle = ({ event, reject }) => reject(outboxFailed(event, this.#base, error));
      }
      this.#pending.splice(0, group.length);
      this.#pendingBytes -= text.length;
      group.forEach(settle);
    }
    // In the same turn that saw nothing pending: whoever adds next begins anew.
    this.#writing = undefined;
  }

  /** Resolves when the text is on disk, in a file that no other process has taken over. */
  async #write(text: Buffer, events: number): Promise<void> {
    for (;;) {
      const active = this.#active ?? (await this.#openSegment());
      const { segment, handle, inode } = active;
      try {
        let written = 0;
        while (written < text.length) {
          const at = segment.size + written;
          written += (await handle.write(text, written, text.length - written, at)).bytesWritten;
        }
        await handle.datasync();
      } catch (error) {
        // After a write that failed nobody knows what the file holds: it gets no more, and ends where it was good.
        await this.#retire(active);
        await this.#cut(segment);
        throw error;
      }
      if ((await inodeOf(segment.path)) !== inode) {
        // Someone has it who took this process for gone, and sends what was in it then, with or without this text.
        await this.#retire(active);
        continue;
      }
      segment.size += text.length;
      this.#bytes += text.length;
      // Before it is closed, when its reader may come to its end.
      segment.unread += events;
      this.#unreadOwn += events;
      if (segment.size >= segmentBytes(this.#bytesMax)) await this.#retire(active);
      return;
    }
  }

  /** Ends a file where it was good. One without an event is removed: a disk that is full for hours would get one more with each call. */
  async #cut(segment: Segment): Promise<void> {
    if (segment.size === 0) {
      this.#endSegment(segment);
      await Promise.all(this.#removals);
      return;
    }
    await truncate(segment.path, segment.size).catch((error: unknown) =>
      this.#listeners.onProblem('file', `${segment.path} may end with events that were not queued: ${String(error)}`),
    );
  }

  async #openSegment(): Promise<ActiveSegment> {
    await this.#opened;
    const path = await this.#nextPath();
    const { handle, inode } = await createFile(path);
    const segment = newSegment(path, 0, 0);
    this.#unread.push(segment);
    this.#active = { segment, handle, inode };
    return this.#active;
  }

  async #retire({ segment, handle }: ActiveSegment): Promise<void> {
    this.#active = undefined;
    segment.isFull = true;
    await handle.close();
  }

  /** Reads some more events; resolves to false when there is nothing more to read now. */
  async #readOn(): Promise<boolean> {
    const segment = this.#next;
    if (segment === undefined) return false;
    const length = Math.min(READ_BYTES, segment.size - segment.position);
    if (length === 0 && !segment.isFull) return false;
    const chunk = length === 0 ? NOTHING : await this.#readChunk(segment, length);
    if (chunk === undefined) return true;
    if (chunk.length === 0) {
      this.#endSegment(segment);
      return true;
    }
    segment.position += chunk.length;
    const bytes = Buffer.concat([segment.carry, chunk]);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    segment.carry = bytes.subarray(end);
    for (const line of bytes.toString('utf8', 0, end).split('\n').slice(0, -1)) this.#readLine(segment, line);
    if (segment.isFull && segment.position === segment.size) this.#endSegment(segment);
    return true;
  }

  #readLine(segment: Segment, json: string): void {
    segment.unread -= 1;
    const isOwn = segment.unread !== Infinity;
    if (isOwn) {
      this.#unreadOwn -= 1;
      this.#read += 1;
    }
    try {
      const { idempotency_key: key } = decodeEvent(json);
      const bytes = Buffer.byteLength(json);
      segment.unsettled += bytes + 1;
      this.#ready.push({ key, json, bytes, segment, number: isOwn ? this.#read : 0 });
    } catch {
      const told = `A line of the outbox cannot be read, and is left out: ${json.slice(0, 200)}`;
      this.#listeners.onProblem('line', told);
    }
  }

  /** Empty when nothing more is there: another process has taken the file over, and sends what is in it. Undefined when it cannot be read. */
  async #readChunk(segment: Segment, length: number): Promise<Buffer | undefined> {
    try {
      return await readChunk(segment, length);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NOTHING;
      // The process may have too many files open.
      this.#listeners.onProblem('file', `${segment.path} cannot be read now, and is tried again: ${String(error)}`);
      segment.isUnreadable = true;
      return undefined;
    }
  }

  /** What follows the last whole line was torn when its process died: no `queue` had resolved for it. */
  #endSegment(segment: Segment): void {
    if (segment.isRead) return;
    // Others may have come before it meanwhile.
    this.#unread.splice(this.#unread.indexOf(segment), 1);
    if (segment.unread === Infinity) this.#unreadOthers -= 1;
    else {
      this.#unreadOwn -= segment.unread;
      this.#read += segment.unread;
    }
    this.#keep(segment);
  }

  /** One that was read to its end is held until its events are settled. */
  #keep(segment: Segment): void {
    segment.isRead = true;
    segment.isFull = true;
    this.#kept.add(segment);
    this.#removeIfDone(segment);
  }

  #removeIfDone(segment: Segment): void {
    // Once: one may be done while what is left of it is moved.
    if (segment.unsettled > 0 || !this.#kept.delete(segment)) return;
    this.#bytes -= segment.size;
    const removal = removeFile(segment.path)
      .catch((error: unknown) =>
        this.#listeners.onProblem('file', `A file of the outbox cannot be removed: ${String(error)}`),
      )
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }
}

function outboxFailed(event: HeldEvent, base: string, cause: unknown): WeirError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const detail = `The event could not be written to the outbox ${base}: ${why}. Queue it again with the same key`;
  return new WeirError({ status: 0, code: 'outbox_failed', detail, idempotencyKeys: [event.key], cause });
}
