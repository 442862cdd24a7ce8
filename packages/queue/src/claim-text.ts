// What Redis holds under an idempotency key: the id of the event that has it, and the fingerprint of that event's payload.

import { DIGEST_LENGTH } from '@weir/shared/hash';

const UUID_LENGTH = 36;

export const CLAIM_LENGTH = UUID_LENGTH + DIGEST_LENGTH;

/** What is written. The fingerprint is a digest. */
export function claimText(eventId: string, fingerprint: string): string {
  return eventId + fingerprint;
}

/** Which event a claim is of, and whether one with this fingerprint has the same payload. */
export function readClaim(claim: string, fingerprint: string | undefined): { id: string; isSamePayload: boolean } {
  return { id: claim.slice(0, UUID_LENGTH), isSamePayload: claim.slice(UUID_LENGTH) === fingerprint };
}
