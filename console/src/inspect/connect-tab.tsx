import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { callJson, type ApiError } from '../api/call.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { connectLines } from './connect-lines.ts';
import type { ObjectPath } from './statements.ts';

type Resource = { readonly authorization_servers: readonly string[] };

/** Lines to paste for every client, without a secret. */
export function ConnectTab({ path, username }: { readonly path: ObjectPath; readonly username: string }): ReactNode {
  const { data } = useQuery<Resource, ApiError>({
    queryKey: ['resource'],
    queryFn: () => callJson('/.well-known/oauth-protected-resource'),
  });
  const [catalogUrl = 'http://localhost:8181'] = data?.authorization_servers ?? [];
  return (
    <>
      <p className="quiet">
        A token is made at Administer, Tokens, and comes from the environment as SKEIN_CLIENT_TOKEN. Ports are those
        that the services have unless the operator has chosen others.
      </p>
      {connectLines(path, { origin: location.origin, catalogUrl, username }).map(({ client, lines }) => (
        <section key={client} aria-label={client}>
          <h3>{client}</h3>
          <pre tabIndex={0}>{lines}</pre>
          <CopyButton text={lines} />
        </section>
      ))}
    </>
  );
}
