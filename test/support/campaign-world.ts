import { ContainerModule } from 'inversify';
import type { Database } from '../../src/adapters/knex/database.ts';
import { SqlUnitOfWork } from '../../src/adapters/knex/unit-of-work.ts';
import { AttachRecipients } from '../../src/application/campaigns/attach-recipients.ts';
import { StartCampaigns } from '../../src/application/campaigns/start-campaigns.ts';
import { Rejected, type Rejection } from '../../src/application/errors/rejected.ts';
import type { ChannelProviders } from '../../src/application/ports/channel-provider.ts';
import type { Stores } from '../../src/application/ports/stores.ts';
import type { Durability, LockWait } from '../../src/application/ports/unit-of-work.ts';
import { adapters, ports } from '../../src/bootstrap/tokens.ts';
import type { Campaign } from '../../src/domain/campaigns/campaign.ts';
import type { NewRecipient, Recipient } from '../../src/domain/campaigns/recipient.ts';
import type { KeyedRequest } from '../../src/domain/idempotency/idempotency.ts';
import { iqd } from '../../src/domain/shared/money.ts';
import type { PhoneNumber } from '../../src/domain/shared/phone-number.ts';
import type { WhatsappBusiness } from '../../src/domain/whatsapp/whatsapp-resources.ts';
import { aSeedProject, openApplication } from './application-world.ts';
import {
  aCampaign,
  anId,
  aProject,
  aTestNumber,
  aWhatsappAccount,
  aWhatsappBusiness,
  aWhatsappPhoneNumber,
  aWhatsappTemplate,
} from './builders.ts';

/** A dev project, so that test numbers are accepted; it owns every campaign unless a test says otherwise. */
export const PROJECT = aProject({ environment: 'dev', settings: { rateLimit: null } });
/** Another project without any resources. */
export const OTHER_PROJECT = aProject({
  id: '664abc000000000000000002',
  name: 'Other',
  slug: 'other',
  environment: 'dev',
});
export const TEMPLATE = aWhatsappTemplate();
/** A MARKETING template with the same parameters, one without parameters, and one that is not approved. */
export const OFFER = aWhatsappTemplate({
  id: '664def0000000000000000b1',
  name: 'offer',
  category: 'MARKETING',
});
export const PLAIN = aWhatsappTemplate({
  id: '664def0000000000000000b2',
  name: 'plain',
  components: [{ type: 'BODY', text: 'Hello' }],
});
export const PENDING = aWhatsappTemplate({ id: '664def0000000000000000b3', name: 'soon', status: 'PENDING' });
export const NUMBER = aWhatsappPhoneNumber();
/** A number of the same portfolio. */
export const SECOND_NUMBER = aWhatsappPhoneNumber({
  id: '664def0000000000000000c1',
  phoneNumberId: '104000000000002',
});
/** The platform's id of the portfolio of both numbers. */
export const PORTFOLIO_ID = aWhatsappBusiness().businessId;
/** What the limits of the number and of the portfolio are counted under: the dev project has keys of its own. */
export const NUMBER_KEY = `${PROJECT.id}/${NUMBER.id}`;
export const PORTFOLIO_KEY = `${PROJECT.id}/${PORTFOLIO_ID}`;

/** One account with both numbers and all templates. */
export function aCampaignBusiness(
  number: Partial<typeof NUMBER> = {},
  given: Partial<WhatsappBusiness> = {},
): WhatsappBusiness {
  return aWhatsappBusiness({
    whatsappAccounts: [
      aWhatsappAccount({
        phoneNumbers: [
          { ...NUMBER, ...number },
          { ...SECOND_NUMBER, ...number, id: SECOND_NUMBER.id },
        ],
        templates: [TEMPLATE, OFFER, PLAIN, PENDING],
      }),
    ],
    ...given,
  });
}

/** A recipient as a request has it. */
export function given(phoneNumber: PhoneNumber = aTestNumber('0001')): NewRecipient {
  return { phoneNumber, phoneNumberAsSent: phoneNumber, templateParameters: { body: { '1': 'Layla' } } };
}

/** So many different test numbers with an outcome. */
export function testNumbers(count: number, outcomeDigits = '0001', first = 0): readonly PhoneNumber[] {
  return Array.from({ length: count }, (_, n) => aTestNumber(outcomeDigits, first + n));
}

export const keyed = (key = 'k-1', requestHash = 'h-1'): KeyedRequest => ({
  route: 'campaigns',
  key,
  requestHash,
});

/** What the use case was rejected with. */
export async function rejectionOf(execution: Promise<unknown>): Promise<Rejection> {
  const error = await execution.then(
    () => new Error('It was not rejected'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof Rejected) return error.rejection;
  throw error;
}

/** A unit of work that notes what each transaction asks for, and takes the next of `failures` before it. */
class FailingUnitOfWork extends SqlUnitOfWork {
  failures: (Error | null)[] = [];
  readonly asked: string[] = [];

  override run<T>(
    work: (stores: Stores) => Promise<T>,
    durability: Durability = 'full',
    lockWait: LockWait = 'long',
  ): Promise<T> {
    this.asked.push(`${durability} ${lockWait}`);
    const failure = this.failures.shift() ?? null;
    return failure === null ? super.run(work, durability, lockWait) : Promise.reject(failure);
  }
}

interface CampaignWorldOptions {
  readonly businesses?: readonly WhatsappBusiness[];
  readonly credit?: number;
  readonly keepsPlatformLimits?: boolean;
  /** Whether no channel has a provider. */
  readonly isWithoutChannels?: boolean;
}

/** The application with `PROJECT`, which has 1,000 IQD, and `OTHER_PROJECT`; counts the wake signals. */
export async function openCampaigns({
  businesses = [aCampaignBusiness()],
  credit = 1_000,
  keepsPlatformLimits = true,
  isWithoutChannels = false,
}: CampaignWorldOptions = {}) {
  const wakes = { count: 0 };
  const changed = new ContainerModule(({ rebind }) => {
    rebind(ports.keepsPlatformLimits).toConstantValue(keepsPlatformLimits);
    rebind(ports.wakeSignal).toConstantValue({
      wake: () => {
        wakes.count += 1;
      },
    });
    rebind(ports.unitOfWork).toResolvedValue(
      (database: Database) => new FailingUnitOfWork(database),
      [adapters.database],
    );
    if (isWithoutChannels) {
      const none: Pick<ChannelProviders, 'channelsFor'> = { channelsFor: () => [] };
      rebind(ports.channelProviders).toConstantValue(none as ChannelProviders);
    }
  });
  const world = await openApplication({
    projects: [
      aSeedProject({ project: PROJECT, credit: iqd(credit), whatsappBusinesses: businesses }),
      aSeedProject({ project: OTHER_PROJECT }),
    ],
    overrides: [changed],
  });
  return {
    ...world,
    wakes,
    units: world.unitOfWork as FailingUnitOfWork,
    /** Stores a campaign with recipients, as attaching makes them. */
    async created(
      numbers: readonly PhoneNumber[] = [],
      campaign: Partial<Campaign> = {},
    ): Promise<{
      readonly project: typeof PROJECT;
      readonly campaignId: string;
      readonly idempotency: null;
    }> {
      const { id } = aCampaign(campaign);
      await world.unitOfWork.run(({ campaigns }) => campaigns.insert([aCampaign(campaign)]));
      const command = { project: PROJECT, campaignId: id, idempotency: null };
      if (numbers.length > 0)
        await world.container.get(AttachRecipients).execute(
          command,
          numbers.map((number) => given(number)),
        );
      return command;
    },
    /** As `created`, and started by hand. */
    async started(numbers: readonly PhoneNumber[], campaign: Partial<Campaign> = {}): Promise<string> {
      const command = await this.created(numbers, campaign);
      await world.container.get(StartCampaigns).byHand(command);
      return command.campaignId;
    },
    async campaign(id: string = anId()): Promise<Campaign> {
      const [campaign] = await world.unitOfWork.run(({ campaigns }) => campaigns.lock([id]));
      if (campaign === undefined) throw new Error(`There is no campaign ${id}`);
      return campaign;
    },
    recipients(id: string = anId()): Promise<readonly Recipient[]> {
      return world.unitOfWork.read(({ recipients }) => recipients.ofCampaign(id));
    },
    /** The jobs with their due times, by id. */
    async jobs(): Promise<Readonly<Record<string, number>>> {
      const rows = await world.database.knex('jobs').select('id', 'due_at').orderBy('id');
      return Object.fromEntries(rows.map(({ id, due_at }) => [id, Number(due_at)]));
    },
  };
}

export type CampaignWorld = Awaited<ReturnType<typeof openCampaigns>>;
