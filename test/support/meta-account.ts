import type { SeedFile } from '../../src/bootstrap/config/seed-file.ts';
import type { HarnessOptions } from '../../src/bootstrap/harness/harness.ts';
import {
  ACCESS_TOKEN,
  APP_SECRET,
  accept,
  CloudApiPeer,
  failWith,
  type PeerRequest,
  PLATFORM_PHONE_ID,
  respondJson,
  VERIFY_TOKEN,
  WABA_ID,
} from './cloud-api-peer.ts';
import { LIVE_KEY, seedWith } from './seeds.ts';

export const META_SECRETS: Readonly<Record<string, string>> = {
  META_TOKEN_OF_THE_TEST: ACCESS_TOKEN,
  META_APP_SECRET_OF_THE_TEST: APP_SECRET,
  META_VERIFY_TOKEN_OF_THE_TEST: VERIFY_TOKEN,
};

/** Our ids in `seedWithAccount`. */
export const SEED_ACCOUNT_ID = '664def456abc789012345602';
export const SEED_PHONE_ID = '664def456abc789012345678';

/** Meta with one account of one number and two templates on two pages; takes messages too. */
export class MetaAccount {
  readonly peer: CloudApiPeer;
  /** Of the number. */
  quality = 'GREEN';
  /** Of the template `order_update`. */
  templateStatus = 'PENDING';
  /** Further templates on the first page, as Meta lists them. */
  moreTemplates: readonly Readonly<Record<string, unknown>>[] = [];
  /** Requests that Meta fails; none at first. */
  fails: (request: PeerRequest) => boolean = () => false;

  private constructor(peer: CloudApiPeer) {
    this.peer = peer;
  }

  static async open(): Promise<MetaAccount> {
    Object.assign(process.env, META_SECRETS);
    const account = new MetaAccount(await CloudApiPeer.open());
    account.peer.behave((request, response, count) => {
      if (account.fails(request)) failWith(131016, 503)(request, response, count);
      else if (request.method === 'POST') accept(request, response, count);
      else if (request.path.endsWith(`/${WABA_ID}/phone_numbers`))
        respondJson(response, 200, account.#numbers());
      else if (request.path.endsWith(`/${WABA_ID}/message_templates`)) {
        respondJson(response, 200, account.#templates(request.query.get('after')));
      } else failWith(100)(request, response, count);
    });
    return account;
  }

  /** The provider `name` with the account's credentials, as a channels file has it. */
  provider(): Readonly<Record<string, unknown>> {
    return {
      kind: 'cloud-api',
      accessToken: { env: 'META_TOKEN_OF_THE_TEST' },
      appSecret: { env: 'META_APP_SECRET_OF_THE_TEST' },
      verifyToken: { env: 'META_VERIFY_TOKEN_OF_THE_TEST' },
      phoneNumberId: PLATFORM_PHONE_ID,
      baseUrl: this.peer.url,
    };
  }

  /** How often the account was asked for from its beginning. */
  get readings(): number {
    return this.peer.requests.filter(({ path }) => path.endsWith('/phone_numbers')).length;
  }

  #numbers() {
    return {
      data: [
        {
          id: PLATFORM_PHONE_ID,
          display_phone_number: '+964 770 000 0000',
          verified_name: 'Demo',
          quality_rating: this.quality,
          status: 'CONNECTED',
          whatsapp_business_manager_messaging_limit: 'TIER_2K',
        },
      ],
    };
  }

  #templates(after: string | null) {
    const row = (name: string, category: string, status: string, text: string) => ({
      name,
      category,
      status,
      language: 'en',
      components: [{ type: 'BODY', text }],
    });
    if (after === 'second') {
      return { data: [row('login_code', 'AUTHENTICATION', 'APPROVED', 'Your code is {{1}}.')] };
    }
    return {
      data: [
        row('order_update', 'UTILITY', this.templateStatus, 'Hello {{1}}, your order is on its way.'),
        ...this.moreTemplates,
      ],
      paging: { cursors: { after: 'second' }, next: 'https://graph.example.com/next' },
    };
  }
}

/** A live project with the account, whose number and template were not read from Meta yet. */
export function seedWithAccount(): SeedFile {
  return seedWith({
    environment: 'live',
    apiKeys: [LIVE_KEY],
    rateLimit: null,
    whatsapp: {
      businesses: [
        {
          id: '664def456abc789012345601',
          businessId: '104512345678901',
          name: 'Demo Trading',
          whatsappAccounts: [
            {
              id: SEED_ACCOUNT_ID,
              whatsappBusinessId: WABA_ID,
              name: 'Demo',
              phoneNumbers: [
                {
                  id: SEED_PHONE_ID,
                  phoneNumberId: PLATFORM_PHONE_ID,
                  displayPhoneNumber: '+964 770 000 0000',
                  phoneNumber: '+9647700000000',
                  qualityRating: 'UNKNOWN',
                },
              ],
            },
          ],
        },
      ],
    },
  });
}

/** Whatsapp over providers of these names, in this order. */
export function channelsOf(providers: Readonly<Record<string, MetaAccount>>): HarnessOptions['channels'] {
  const entries = Object.entries(providers).map(([name, account]) => [name, account.provider()]);
  return { whatsapp: { providers: Object.fromEntries(entries) } };
}
