import type { PlatformAccount } from '../../domain/whatsapp/merge-account.ts';

/** Everything of an account, or why it could not be read: then nothing of it is known. */
export type PlatformAccountResult =
  | { readonly kind: 'account'; readonly account: PlatformAccount }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The platform that has the whatsapp accounts: reads their numbers and templates, and changes nothing. */
export interface WhatsappPlatform {
  /**
   * The numbers and templates of an account, by the platform's id of it. All of them, or `unavailable`: also when one page
   * fails, or there are more than the adapter takes. Never rejects.
   */
  accountOf(whatsappBusinessId: string): Promise<PlatformAccountResult>;
}
