import { ABORTS } from './aborts.ts';
import type { AttackKind } from './attack.ts';
import { FLOODS } from './floods.ts';
import { SLOWNESS } from './slowness.ts';

/** Every kind of hostile client there is; docs/chaos.md tells of each. */
export const ATTACK_KINDS: readonly AttackKind[] = [...ABORTS, ...SLOWNESS, ...FLOODS];
