import { useState, type ReactNode } from 'react';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { Actions, type Action } from '../statement/action-form.tsx';
import { PrincipalList } from './principal-list.tsx';
import { principalRefusal } from './rights.ts';
import { createWebhook, dropWebhook, retryWebhook } from './statements.ts';

/** Webhooks, and what was delivered to them. */
export function WebhooksPage({ me }: { readonly me: Whoami }): ReactNode {
  const [chosen, choose] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  const refusal = principalRefusal(me, null);
  return (
    <>
      <PrincipalList kind="webhooks" label="Webhooks" version={version} onChoose={choose} />
      <Actions
        key={chosen}
        onDone={() => setVersion((now) => now + 1)}
        actions={[
          {
            title: 'Create a webhook',
            fields: [
              { name: 'NAME', kind: 'text' },
              { name: 'URL', kind: 'text' },
              { name: 'SECRET', kind: 'secret', hint: 'At least 16 characters' },
              { name: 'EVENTS', kind: 'text', optional: true, hint: 'drop_ create_pat; empty: every event' },
            ],
            make: ({ NAME = '', URL = '', SECRET = '', EVENTS = '' }) => createWebhook(NAME, URL, SECRET, EVENTS),
            refusal,
          },
          ...(chosen === null ? [] : webhookActions(chosen, refusal)),
        ]}
      />
      {chosen === null ? null : (
        <>
          <h2>Deliveries of {chosen}</h2>
          <PrincipalList kind="webhook-deliveries" label={`Deliveries of ${chosen}`} of={chosen} version={version} />
        </>
      )}
    </>
  );
}

const webhookActions = (webhook: string, refusal: string | undefined): readonly Action[] => [
  {
    title: `Retry ${webhook}`,
    fields: [{ name: 'RETRY', kind: 'text', optional: true, hint: 'Id of an event; empty: all that have failed' }],
    make: ({ RETRY = '' }) => retryWebhook(webhook, RETRY),
    refusal,
  },
  { title: `Drop ${webhook}`, fields: [], make: () => dropWebhook(webhook), danger: webhook, refusal },
];
