import { Component, type ReactNode } from 'react';

type Props = { readonly location: string; readonly children: ReactNode };
type State = { readonly error: unknown };

/** Words of the browsers and of the loader for a part of the page that the server does not have any more. */
const NOT_LOADED = /dynamically imported module|module script|preload/i;

/**
 * Stands where a page would be that cannot be shown: a part of it was not loaded, because the coordinator has another version of the console
 * by now, or its script has failed. What was written is kept by the browser.
 */
export class PageBoundary extends Component<Props, State> {
  override readonly state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  /** Another page may be whole. */
  override componentDidUpdate({ location }: Props): void {
    if (location !== this.props.location && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const message = error instanceof Error ? error.message : 'an error without a message';
    return (
      <div className="page">
        <div role="alert" className="problem">
          {NOT_LOADED.test(message)
            ? 'A part of this page could not be loaded: the coordinator cannot be reached, or has another version of the console by now.'
            : `This page has failed: ${message}`}
        </div>
        <p className="quiet">No text is lost.</p>
        <button type="button" className="primary" onClick={() => globalThis.location.reload()}>
          Load the page again
        </button>
      </div>
    );
  }
}
