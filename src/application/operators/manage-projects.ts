import { DEFAULT_SETTINGS, type Project, type ProjectSettings } from '../../domain/access/project.ts';
import { type AuditedFields, changedFields } from '../../domain/audit/audit-record.ts';
import { auditedLowCredit, auditedProject } from '../../domain/audit/audited.ts';
import type { Account } from '../../domain/billing/account.ts';
import { changedLowCredit, isSameLowCredit } from '../../domain/billing/low-credit.ts';
import type { Actor } from '../../domain/shared/actor.ts';
import { isoOf } from '../../domain/shared/instant.ts';
import { type Money, ZERO } from '../../domain/shared/money.ts';
import type { PlainSecret } from '../../domain/shared/sealed-secret.ts';
import { newChange, recordChange } from '../audit/record-change.ts';
import { accountOf, lockedAccount, readAccount } from '../billing/account-of.ts';
import type { NoticeLowCredit } from '../billing/notice-low-credit.ts';
import { Rejected } from '../errors/rejected.ts';
import { runRetentionJob } from '../jobs/retention-jobs.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { NewAccount } from '../ports/stores/billing-stores.ts';
import type { ManagedProject } from '../ports/stores/project-store.ts';
import type { Stores } from '../ports/stores.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { SealWebhook } from '../webhooks/seal-webhook.ts';
import { lockedProject, projectNamed } from './named-project.ts';
import { cutPage, type ListPage } from './walk-page.ts';

/** A project with its account. */
export interface ProjectOverview {
  readonly project: ManagedProject;
  readonly account: Account;
}

/** A new project; what is left out of the settings has its default. */
export interface NewProject
  extends Pick<Project, 'name' | 'slug' | 'environment'>,
    Omit<NewAccount, 'projectId'> {
  readonly settings: Partial<ProjectSettings<PlainSecret>>;
}

/**
 * What changes of a project; what is left out stays. Without a secret of `lowCredit` the stored one stays for as long as the
 * address stays.
 */
export interface ProjectChange {
  readonly name?: string;
  readonly settings: Partial<ProjectSettings<PlainSecret>>;
  /** Null takes the threshold away. */
  readonly spendingThreshold?: Money | null;
}

interface Ports {
  readonly unitOfWork: UnitOfWork;
  readonly sealWebhook: Pick<SealWebhook, 'execute'>;
  readonly noticeLowCredit: Pick<NoticeLowCredit, 'arm'>;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/**
 * The projects of the installation, for operators. Each change and its audit record are one transaction. A change takes effect
 * in every process within `SETTINGS_FRESH_MS`.
 */
export class ManageProjects {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Makes a project without keys and credit. Rejects as `slug-taken` and `webhook-url-refused`. */
  async create(actor: Actor, given: NewProject): Promise<ProjectOverview> {
    const { unitOfWork, ids } = this.#ports;
    const change = newChange(this.#ports, actor);
    const { at } = change;
    const { name, slug, environment, paymentType, spendingThreshold, trialPhoneNumber } = given;
    const project: ManagedProject = {
      id: ids.hex24(at),
      name,
      slug,
      environment,
      settings: { ...DEFAULT_SETTINGS, ...this.#sealed(given.settings) },
      archivedAt: null,
    };
    const terms = { projectId: project.id, paymentType, spendingThreshold, trialPhoneNumber };
    const account: Account = {
      ...terms,
      balance: ZERO,
      held: ZERO,
      spent: ZERO,
      lowCreditNoticedAt: null,
    };
    try {
      await unitOfWork.run(async (stores) => {
        if ((await stores.projects.named(slug)) !== null) throw new Rejected({ kind: 'slug-taken' });
        await stores.projects.insert([project]);
        await stores.accounts.insert([terms]);
        await scheduleRetention(stores, project, at);
        const after = auditedProject(project, account);
        await recordChange(stores, change, 'project-created', project.id, { before: null, after });
      });
    } catch (error) {
      if (error instanceof Rejected) throw error;
      // Another operator may have been faster, or only the reply to this commit was lost.
      const holder = await unitOfWork.read(({ projects }) => projects.named(slug));
      if (holder === null) throw error;
      if (holder.id !== project.id) throw new Rejected({ kind: 'slug-taken' });
    }
    return { project, account };
  }

  /** Up to `limit` projects in the order of their ids, those after `after` when it is given. */
  list(after: string | null, limit: number): Promise<ListPage<ProjectOverview, string>> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const projects = await stores.projects.list(after, limit + 1);
      const accounts = await stores.accounts.byProjectIds(projects.map(({ id }) => id));
      const byId = new Map(accounts.map((account) => [account.projectId, account]));
      const listed = projects.map((project) => ({
        project,
        account: accountOf(project.id, byId.get(project.id)),
      }));
      return cutPage(listed, limit, ({ project }) => project.id);
    });
  }

  /** Takes an id or a slug, and rejects as `project-not-found`. */
  find(idOrSlug: string): Promise<ProjectOverview> {
    return this.#ports.unitOfWork.read(async (stores) => {
      const project = await projectNamed(stores, idOrSlug);
      return { project, account: await readAccount(stores, project.id) };
    });
  }

  /**
   * Changes the name, settings and threshold of a project. Nothing is recorded when all of it is as before. Rejects as
   * `webhook-url-refused`.
   */
  async change(
    actor: Actor,
    idOrSlug: string,
    { name, settings, spendingThreshold }: ProjectChange,
  ): Promise<ProjectOverview> {
    const change = newChange(this.#ports, actor);
    const sealed = this.#sealed(settings);
    return this.#ports.unitOfWork.run(async (stores) => {
      const project = await lockedProject(stores, idOrSlug);
      const account = await lockedAccount(stores, project.id);
      const changed: ProjectOverview = {
        project: {
          ...project,
          name: name ?? project.name,
          settings: changedSettings(project.settings, sealed),
        },
        account: spendingThreshold === undefined ? account : { ...account, spendingThreshold },
      };
      const fields = changesOf({ project, account }, changed);
      if (Object.keys(fields.after).length === 0) return changed;
      await stores.projects.save([changed.project]);
      if (fields.after.lowCredit !== undefined) {
        await this.#ports.noticeLowCredit.arm(stores, changed.project, account);
      }
      if (fields.after.retention !== undefined) await scheduleRetention(stores, changed.project, change.at);
      if (spendingThreshold !== undefined) {
        await stores.accounts.setSpendingThreshold(project.id, spendingThreshold);
      }
      await recordChange(stores, change, 'project-changed', project.id, fields);
      return changed;
    });
  }

  /**
   * Ends a project: its keys are rejected from then on, no new one is made, and scheduled campaigns fail at their time. Messages
   * on their way, money and everything stored stay as they are. An archived project stays as it is.
   */
  archive(actor: Actor, idOrSlug: string): Promise<ProjectOverview> {
    const change = newChange(this.#ports, actor);
    return this.#ports.unitOfWork.run(async (stores) => {
      const project = await lockedProject(stores, idOrSlug);
      const account = await readAccount(stores, project.id);
      if (project.archivedAt !== null) return { project, account };
      const archived = { ...project, archivedAt: change.at };
      await stores.projects.save([archived]);
      const archivedAt = isoOf(change.at);
      await recordChange(stores, change, 'project-archived', project.id, {
        before: { archivedAt: null },
        after: { archivedAt },
      });
      return { project: archived, account };
    });
  }

  #sealed({ lowCredit, ...others }: Partial<ProjectSettings<PlainSecret>>): Partial<ProjectSettings> {
    if (lowCredit === undefined) return others;
    const sealed = lowCredit && this.#ports.sealWebhook.execute(lowCredit, 'lowCredit.webhookUrl');
    return { ...others, lowCredit: sealed };
  }
}

function changedSettings(before: ProjectSettings, given: Partial<ProjectSettings>): ProjectSettings {
  const { lowCredit = before.lowCredit } = given;
  return { ...before, ...given, lowCredit: changedLowCredit(before.lowCredit, lowCredit) };
}

/** What the audit log has of a change. A new secret, or another query of the address, shows as a notice of equal fields. */
function changesOf(
  before: ProjectOverview,
  after: ProjectOverview,
): { readonly before: AuditedFields; readonly after: AuditedFields } {
  const fields = changedFields(
    auditedProject(before.project, before.account),
    auditedProject(after.project, after.account),
  );
  const [from, to] = [before.project.settings.lowCredit, after.project.settings.lowCredit];
  if (isSameLowCredit(from, to)) return fields;
  return {
    before: { ...fields.before, lowCredit: auditedLowCredit(from) },
    after: { ...fields.after, lowCredit: auditedLowCredit(to) },
  };
}

/** The old messages of a project that has retention from now on are treated at once. */
async function scheduleRetention(
  { jobs }: Pick<Stores, 'jobs'>,
  { settings }: Pick<Project, 'settings'>,
  now: number,
): Promise<void> {
  if (settings.retention !== null) await jobs.scheduleNoLaterThan([runRetentionJob(now)], now);
}
