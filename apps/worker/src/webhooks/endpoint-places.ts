// How many turns one worker has under way. A turn waits for its receiver most of the time, so there is room for many; but receivers that
// take their time get half of it at most, and one organization a part: neither holds up the others.

/** The share of places for endpoints that failed last, or were slow. */
const SLOW_SHARE = 0.5;

/** The share of places for one organization. */
const ORGANIZATION_SHARE = 0.125;

/** Who answers later than this is slow. */
const SLOW_MS = 1_000;

/** Who was left without a place asks again with the next look, and no more where another worker had one, or nothing is to be sent. */
const ASKED_MS = 10_000;

/** Who asks for a place. */
export interface Placed {
  organizationId: string;
  failingSince: string | null;
  answerMs: number | null;
}

export class EndpointPlaces {
  readonly #slowMax: number;
  readonly #organizationMax: number;
  readonly #byOrganization = new Map<string, Held>();
  #slow = 0;
  /** When somebody was last left without one because others who are slow had theirs. */
  #slowAskedAt = -Infinity;

  constructor(places: number) {
    this.#slowMax = Math.max(1, Math.floor(places * SLOW_SHARE));
    this.#organizationMax = Math.max(1, Math.floor(places * ORGANIZATION_SHARE));
  }

  /** Returns what gives the place back, or undefined where there is none now. */
  take(placed: Placed): (() => void) | undefined {
    const { organizationId } = placed;
    const isSlow = isSlowOf(placed);
    const held = this.#byOrganization.get(organizationId) ?? { places: 0, askedAt: -Infinity };
    if (held.places >= this.#organizationMax) {
      held.askedAt = performance.now();
      return undefined;
    }
    if (isSlow && this.#slow >= this.#slowMax) {
      this.#slowAskedAt = performance.now();
      return undefined;
    }
    this.#byOrganization.set(organizationId, held);
    held.places += 1;
    if (isSlow) this.#slow += 1;
    return () => {
      held.places -= 1;
      if (held.places === 0) this.#byOrganization.delete(organizationId);
      if (isSlow) this.#slow -= 1;
    };
  }

  /** Whether somebody waits for a place like that of this one: who has it and is done is to ask again behind him. */
  isAskedFor(placed: Placed): boolean {
    const since = performance.now() - ASKED_MS;
    const { askedAt = -Infinity } = this.#byOrganization.get(placed.organizationId) ?? {};
    return askedAt > since || (isSlowOf(placed) && this.#slowAskedAt > since);
  }
}

/** What an organization has. */
interface Held {
  places: number;
  /** When one of its endpoints was last left without one because others of it had theirs. */
  askedAt: number;
}

const isSlowOf = ({ failingSince, answerMs }: Placed) => failingSince !== null || (answerMs ?? 0) > SLOW_MS;
