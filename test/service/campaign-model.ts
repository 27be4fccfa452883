import { RECIPIENT_NUMBERS } from '../support/campaigns.ts';

/** What becomes of a recipient, so many milliseconds after its message was sent: by the table of test numbers. */
type Fate = readonly { readonly afterMs: number; readonly status: string; readonly isFinal?: boolean }[];

const RECEIPT_WINDOW = 72 * 3_600_000;
const FATES: Readonly<Record<string, Fate>> = {
  '0001': [
    { afterMs: 0, status: 'sent' },
    { afterMs: 1_000, status: 'delivered', isFinal: true },
  ],
  '0004': [
    { afterMs: 0, status: 'sent' },
    { afterMs: 1_000, status: 'delivered', isFinal: true },
    { afterMs: 2_000, status: 'read', isFinal: true },
  ],
  '0006': [{ afterMs: 0, status: 'failed', isFinal: true }],
  '0003': [
    { afterMs: 0, status: 'sent' },
    { afterMs: RECEIPT_WINDOW, status: 'sent', isFinal: true },
  ],
};

/** Messages of a number start in groups of eight, 100 ms apart: 80 a second. */
const GROUP = 8;
const GROUP_MS = 100;

export interface ModelCampaign {
  readonly id: string;
  price: number;
  /** Positions in `RECIPIENT_NUMBERS`. */
  readonly recipients: number[];
  scheduledFor: number | null;
  /** When its first message may start; null until it has started. */
  slot: number | null;
  hasFailedAtStart: boolean;
  isGone: boolean;
}

/** A project's campaigns and its money, in IQD, as the specification has them. */
export class CampaignModel {
  readonly campaigns: ModelCampaign[] = [];
  now: number;
  readonly #deposit: number;
  #freeAt = 0;

  constructor(now: number, deposit: number) {
    this.now = now;
    this.#deposit = deposit;
  }

  create(id: string, price: number, scheduledFor: number | null, recipients: readonly number[] = []): void {
    const more = { slot: null, hasFailedAtStart: false, isGone: false };
    this.campaigns.push({ id, price, scheduledFor, recipients: [...recipients], ...more });
  }

  /** The status of the reply to a request that needs a campaign that has not started. */
  editable(campaign: ModelCampaign | undefined): 200 | 400 | 404 {
    if (campaign === undefined || campaign.isGone) return 404;
    return campaign.slot === null && !campaign.hasFailedAtStart ? 200 : 400;
  }

  canStart(recipients: number, price: number): boolean {
    return recipients > 0 && recipients * price <= this.credit();
  }

  start(campaign: ModelCampaign): void {
    campaign.slot = Math.max(this.now, this.#freeAt);
    this.#freeAt = campaign.slot + Math.ceil(campaign.recipients.length / GROUP) * GROUP_MS;
  }

  /** The clock moves: what is scheduled until then starts at its time, or fails. */
  advance(ms: number): void {
    const target = this.now + ms;
    const due = this.campaigns.filter(
      (each) => this.editable(each) === 200 && each.scheduledFor !== null && each.scheduledFor <= target,
    );
    for (const campaign of due.sort((a, b) => Number(a.scheduledFor) - Number(b.scheduledFor))) {
      this.now = Number(campaign.scheduledFor);
      if (this.canStart(campaign.recipients.length, campaign.price)) this.start(campaign);
      else campaign.hasFailedAtStart = true;
    }
    this.now = target;
  }

  /** What is left of the deposit after captures and holds. */
  credit(): number {
    return this.campaigns.reduce((left, each) => {
      const { captured, held } = this.sums(each);
      return left - captured - held;
    }, this.#deposit);
  }

  recipientStatuses({ recipients, slot }: ModelCampaign): readonly string[] {
    return recipients.map((which, index) => this.#fateOf(which, slot, index)?.status ?? 'queued');
  }

  sums(campaign: ModelCampaign): { readonly captured: number; readonly held: number } {
    const { recipients, slot, price } = campaign;
    if (slot === null) return { captured: 0, held: 0 };
    const fates = recipients.map((which, index) => this.#fateOf(which, slot, index));
    const charged = fates.filter((fate) => fate?.status === 'delivered' || fate?.status === 'read').length;
    const open = fates.filter((fate) => fate?.isFinal !== true).length;
    return { captured: charged * price, held: open * price };
  }

  /** What the list shows of a campaign. */
  shown(campaign: ModelCampaign): Readonly<Record<string, unknown>> {
    const { id, price, recipients, scheduledFor, slot, hasFailedAtStart } = campaign;
    const statuses = this.recipientStatuses(campaign);
    const count = (...of: string[]) => statuses.filter((status) => of.includes(status)).length;
    const { captured, held } = this.sums(campaign);
    const isRunning = count('queued') > 0;
    const ended = count('failed') === recipients.length ? 'failed' : 'completed';
    const planned = scheduledFor === null ? 'draft' : 'scheduled';
    const unstarted = hasFailedAtStart ? 'failed' : planned;
    const settled = captured > 0 ? 'reconciled' : 'released';
    const unbilled = hasFailedAtStart ? 'released' : 'pending';
    return {
      _id: id,
      status: slot === null ? unstarted : isRunning ? 'running' : ended,
      category: price === 60 ? 'UTILITY' : 'MARKETING',
      scheduledFor: scheduledFor === null ? undefined : new Date(scheduledFor).toISOString(),
      totalRecipients: recipients.length,
      sentCount: count('sent', 'delivered', 'read'),
      deliveredCount: count('delivered', 'read'),
      failedCount: count('failed'),
      estimatedTotalCost: recipients.length * price,
      reservedAmount: slot === null ? 0 : recipients.length * price,
      reconciledAmount: captured,
      billingStatus: slot === null ? unbilled : held > 0 ? 'reserved' : settled,
    };
  }

  #fateOf(which: number, slot: number | null, index: number): Fate[number] | undefined {
    if (slot === null) return undefined;
    const elapsed = this.now - slot - Math.floor(index / GROUP) * GROUP_MS;
    const digits = RECIPIENT_NUMBERS[which]?.slice(-4) ?? '';
    return FATES[digits]?.findLast(({ afterMs }) => afterMs <= elapsed);
  }
}
