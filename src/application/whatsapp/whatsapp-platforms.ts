import type { PlatformAccountResult, WhatsappPlatform } from '../ports/whatsapp-platform.ts';

/** The platforms of all providers as one. */
export class WhatsappPlatforms implements WhatsappPlatform {
  readonly #platforms: readonly WhatsappPlatform[];

  constructor({ platforms }: { readonly platforms: readonly WhatsappPlatform[] }) {
    this.#platforms = platforms;
  }

  /** Whether no provider has a platform, so that no account can be read. */
  get isEmpty(): boolean {
    return this.#platforms.length === 0;
  }

  /**
   * Asks one platform after another, in the order of the configuration, until one gives the account: nothing says which
   * provider's credentials reach it. `unavailable` has the reasons of all.
   */
  async accountOf(whatsappBusinessId: string): Promise<PlatformAccountResult> {
    const reasons: string[] = [];
    for (const platform of this.#platforms) {
      const result = await platform.accountOf(whatsappBusinessId);
      if (result.kind === 'account') return result;
      reasons.push(result.reason);
    }
    return { kind: 'unavailable', reason: reasons.join('; ') || 'No provider can read whatsapp accounts' };
  }
}
