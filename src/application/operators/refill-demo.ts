import { auditedAccount } from '../../domain/audit/audited.ts';
import { demoRefill } from '../../domain/billing/demo-credit.ts';
import { depositEntry } from '../../domain/billing/ledger.ts';
import { add, toIqd } from '../../domain/shared/money.ts';
import { recordChange } from '../audit/record-change.ts';
import { lockedAccount } from '../billing/account-of.ts';
import type { NoticeLowCredit } from '../billing/notice-low-credit.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { KeyHasher } from '../ports/key-hasher.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

const REASON = 'the demo project had little credit left';

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly keyHasher: Pick<KeyHasher, 'digest'>;
  readonly noticeLowCredit: Pick<NoticeLowCredit, 'arm'>;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Fills up the credit of the demo project, which everybody knows the key of. */
export class RefillDemo {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Resolves with whether credit was added: to the dev project of this key, when it has little left. Of several processes at
   * the same time one adds it. The audit log names `system` as the actor.
   */
  async execute(apiKey: string): Promise<boolean> {
    const { unitOfWork, keyHasher, noticeLowCredit, clock, ids } = this.#ports;
    const at = clock.now();
    return unitOfWork.run(async (stores) => {
      const project = await stores.projects.byKeyDigest(keyHasher.digest(apiKey), at);
      if (project === null || project.environment !== 'dev') return false;
      const before = await lockedAccount(stores, project.id);
      const amount = demoRefill(before);
      if (amount === null) return false;
      const id = ids.hex24(at);
      await stores.ledger.post([depositEntry({ projectId: project.id, reference: id, at }, amount)]);
      const after = { ...before, balance: add(before.balance, amount) };
      await noticeLowCredit.arm(stores, project, after);
      await recordChange(stores, { id, actor: 'system', at }, 'credit-added', project.id, {
        before: auditedAccount(before),
        after: { ...auditedAccount(after), amount: toIqd(amount), reason: REASON },
      });
      return true;
    });
  }
}
