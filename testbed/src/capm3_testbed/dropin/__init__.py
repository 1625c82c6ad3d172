"""What proves on a real kube-apiserver that our CRDs and webhooks take the place of the Go program's.

Apart from the demo and the stories, since nothing is reconciled here: only versions, conversion and admission count.
"""
