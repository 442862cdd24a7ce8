// How many turns one worker has under way. A turn waits for its receiver most of the time, so there is room for many; but receivers that
// take their time get half of it at most, and one organization a part: neither holds up the others.

/** The share of places for endpoints that failed last, or were slow. */
const SLOW_SHARE = 0.5;

/** The share of places for one organization. */
const ORGANIZATION_SHARE = 0.125;

/** Who answers later than this is slow. */
const SLOW_MS = 1_000;

/** Who asks for a place. */
export interface Placed {
  organizationId: string;
  failingSince: string | null;
  answerMs: number | null;
}

export class EndpointPlaces {
  readonly #slowMax: number;
  readonly #organizationMax: number;
  readonly #byOrganization = new Map<string, number>();
  #slow = 0;

  constructor(places: number) {
    this.#slowMax = Math.max(1, Math.floor(places * SLOW_SHARE));
    this.#organizationMax = Math.max(1, Math.floor(places * ORGANIZATION_SHARE));
  }

  /** Returns what gives the place back, or undefined where there is none now. */
  take({ organizationId, failingSince, answerMs }: Placed): (() => void) | undefined {
    const isSlow = failingSince !== null || (answerMs ?? 0) > SLOW_MS;
    const held = this.#byOrganization.get(organizationId) ?? 0;
    if (held >= this.#organizationMax || (isSlow && this.#slow >= this.#slowMax)) return undefined;
    this.#byOrganization.set(organizationId, held + 1);
    if (isSlow) this.#slow += 1;
    return () => {
      const left = (this.#byOrganization.get(organizationId) ?? 1) - 1;
      if (left === 0) this.#byOrganization.delete(organizationId);
      else this.#byOrganization.set(organizationId, left);
      if (isSlow) this.#slow -= 1;
    };
  }
}
