"""Renders the metadata and network data of one machine from its template and the objects around it.

Apart from the manager, because it is a pure function of values: the manager, the preview and the tests call it alike.
"""
