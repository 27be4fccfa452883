/** The only source of chance. Ids grow with time, so that new rows land together on disk. */
export interface IdSource {
  /** 24 lower-case hex characters: 48 bits of milliseconds since 1970, then 48 random bits. */
  hex24(now: number): string;
  /** 40 lower-case hex characters, all of them random: for links that nobody may guess. */
  secret(): string;
  /** A random number, at least 0 and below 1. */
  fraction(): number;
}
