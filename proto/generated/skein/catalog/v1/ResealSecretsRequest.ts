// Original file: catalog.proto


export interface ResealSecretsRequestInput {
}

export interface ResealSecretsRequest {
}
